#include "coordinator/logs/log_desk.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/clock.h"

namespace rekindle::coordinator {

absl::StatusOr<std::unique_ptr<LogDesk>> LogDesk::Start(LogStore::Options options) {
  absl::StatusOr<std::unique_ptr<LogStore>> store = LogStore::Open(std::move(options));
  if (!store.ok()) return store.status();
  return std::unique_ptr<LogDesk>(new LogDesk(*std::move(store)));
}

double LogDesk::now() { return common::SteadySeconds(); }

void LogDesk::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  arrived_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::Status LogDesk::Post(std::function<void()> task, size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (stop_) return absl::UnavailableError("the coordinator is stopping: try again");
  if (queue_.size() >= kMaxTasks || (bytes > 0 && bytes_ + bytes > kMaxBytes)) {
    return absl::UnavailableError("the coordinator has too many lines to keep: try again");
  }
  bytes_ += bytes;
  queue_.push_back({std::move(task), bytes});
  arrived_.notify_one();
  return absl::OkStatus();
}

void LogDesk::Run() {
  for (;;) {
    std::vector<Task> tasks;
    {
      std::unique_lock lock(mutex_);
      const auto ready = [this] { return stop_ || !queue_.empty(); };
      const double due = bulletin_.NextDue();
      if (due == kForever) {
        arrived_.wait(lock, ready);
      } else {
        arrived_.wait_for(lock, std::chrono::duration<double>(std::max(0.0, due - now())), ready);
      }
      tasks.swap(queue_);
      stopped_ = stop_;
    }
    for (const Task& task : tasks) {
      task.run();
      const std::lock_guard lock(mutex_);
      bytes_ -= task.bytes;
    }
    if (stopped_) return bulletin_.WakeAll();
    bulletin_.WakeDue(now());
  }
}

}  // namespace rekindle::coordinator
