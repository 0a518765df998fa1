#include "worker/agent/program/driver_question.h"

namespace rekindle::agent {

DriverQuestion::~DriverQuestion() {
  if (thread_.joinable()) thread_.join();
}

void DriverQuestion::Ask() {
  if (is_under_way()) return;
  thread_ = std::thread([this] {
    absl::StatusOr<std::vector<gpus::Gpu>> gpus = find_();
    {
      const common::MutexLock lock(mutex_);
      answer_ = std::move(gpus);
    }
    waker_->Wake();
  });
}

std::optional<absl::StatusOr<std::vector<gpus::Gpu>>> DriverQuestion::Take() {
  if (!is_under_way()) return std::nullopt;
  std::optional<absl::StatusOr<std::vector<gpus::Gpu>>> taken;
  {
    const common::MutexLock lock(mutex_);
    taken.swap(answer_);
  }
  if (taken) thread_.join();
  return taken;
}

}  // namespace rekindle::agent
