#include "worker/train/lease.h"

#include <algorithm>

namespace rekindle::train {

void Lease::Begin(int generation, double seconds, double sent) {
  std::lock_guard lock(mutex_);
  if (generation <= generation_) return;
  generation_ = generation;
  seconds_ = seconds;
  sent_ = sent;
}

void Lease::Renew(int generation, double sent) {
  std::lock_guard lock(mutex_);
  if (generation == generation_) sent_ = std::max(sent_, sent);
}

bool Lease::Holds(int generation) const {
  std::lock_guard lock(mutex_);
  if (generation != generation_) return false;
  return seconds_ <= 0 || clock_() < sent_ + seconds_;
}

}  // namespace rekindle::train
