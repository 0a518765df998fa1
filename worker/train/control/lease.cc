#include "worker/train/control/lease.h"

#include <algorithm>

namespace rekindle::train {

void Lease::Begin(int generation, double seconds, double sent) {
  const common::MutexLock lock(mutex_);
  if (generation <= generation_) return;
  generation_ = generation;
  seconds_ = seconds;
  sent_ = sent;
}

void Lease::Renew(int generation, double sent) {
  const common::MutexLock lock(mutex_);
  if (generation == generation_) sent_ = std::max(sent_, sent);
}

void Lease::Spend(double seconds, double sent) {
  const common::MutexLock lock(mutex_);
  if (sent < spend_sent_) return;
  spend_seconds_ = seconds;
  spend_sent_ = sent;
}

double Lease::SpendSeconds() const {
  const common::MutexLock lock(mutex_);
  return spend_seconds_;
}

bool Lease::MaySpend() const {
  const common::MutexLock lock(mutex_);
  return clock_() < spend_sent_ + spend_seconds_;
}

bool Lease::Holds(int generation) const {
  const common::MutexLock lock(mutex_);
  if (generation != generation_ || clock_() >= spend_sent_ + spend_seconds_) return false;
  return seconds_ <= 0 || clock_() < sent_ + seconds_;
}

}  // namespace rekindle::train
