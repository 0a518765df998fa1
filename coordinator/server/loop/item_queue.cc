#include "coordinator/server/loop/item_queue.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "common/sync/mutex.h"

namespace rekindle::coordinator {

absl::Status ItemQueue::Ended() const {
  return stopped_ ? absl::UnavailableError("the coordinator is stopping: try again") : superseded_;
}

absl::Status ItemQueue::Add(LoopItem& item) {
  const common::MutexLock lock(mutex_);
  if (absl::Status ended = Ended(); !ended.ok()) return ended;
  if (items_.size() >= kMost) return absl::UnavailableError("the coordinator has too much to do: try again");
  items_.push_back(std::move(item));
  arrived_.NotifyOne();
  return absl::OkStatus();
}

void ItemQueue::Supersede(const absl::Status& why, LoopTask last) {
  const common::MutexLock lock(mutex_);
  superseded_ = why;
  items_.push_back(std::move(last));
  arrived_.NotifyOne();
}

void ItemQueue::Stop() {
  const common::MutexLock lock(mutex_);
  stopped_ = true;
  arrived_.NotifyOne();
}

ItemQueue::Taken ItemQueue::Await(double seconds) {
  common::MutexLock lock(mutex_);
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopped_ || !items_.empty(); };
  if (std::isinf(seconds)) {
    arrived_.Wait(lock, ready);
  } else {
    arrived_.WaitFor(lock, std::chrono::duration<double>(std::max(0.0, seconds)), ready);
  }
  return {.items = std::exchange(items_, {}), .ended = Ended()};
}

absl::Status ItemQueue::superseded() const {
  const common::MutexLock lock(mutex_);
  return superseded_;
}

}  // namespace rekindle::coordinator
