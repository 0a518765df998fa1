#include "coordinator/logs/log_desk.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::coordinator {

absl::StatusOr<std::unique_ptr<LogDesk>> LogDesk::Start(LogStore::Options options) {
  absl::StatusOr<std::unique_ptr<LogStore>> store = LogStore::Open(std::move(options));
  if (!store.ok()) return store.status();
  return std::unique_ptr<LogDesk>(new LogDesk(*std::move(store)));
}

double LogDesk::now() { return common::SteadySeconds(); }

void LogDesk::Stop() {
  {
    const common::MutexLock lock(mutex_);
    stop_ = true;
  }
  arrived_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

absl::Status LogDesk::Post(std::function<void()> task, size_t bytes) {
  const common::MutexLock lock(mutex_);
  if (stop_) return absl::UnavailableError("the coordinator is stopping: try again");
  if (queue_.size() >= kMaxTasks || (bytes > 0 && bytes_ + bytes > kMaxBytes)) {
    return absl::UnavailableError("the coordinator has too many lines to keep: try again");
  }
  bytes_ += bytes;
  queue_.push_back({std::move(task), bytes});
  arrived_.NotifyOne();
  return absl::OkStatus();
}

void LogDesk::Run() {
  for (;;) {
    std::vector<Task> tasks;
    {
      common::MutexLock lock(mutex_);
      const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || !queue_.empty(); };
      const double due = bulletin_.NextDue();
      if (due == kForever) {
        arrived_.Wait(lock, ready);
      } else {
        arrived_.WaitFor(lock, std::chrono::duration<double>(std::max(0.0, due - now())), ready);
      }
      tasks.swap(queue_);
      stopped_ = stop_;
    }
    for (const Task& task : tasks) {
      task.run();
      const common::MutexLock lock(mutex_);
      bytes_ -= task.bytes;
    }
    if (stopped_) return bulletin_.WakeAll();
    bulletin_.WakeDue(now());
  }
}

}  // namespace rekindle::coordinator
