// Runs the thread that owns the logs of all jobs. Whoever adds to logs or reads them posts a task to the thread, and
// waits for news on its bulletin. So no disk ever holds up the coordinator's decisions.
#ifndef REKINDLE_COORDINATOR_LOGS_LOG_DESK_H_
#define REKINDLE_COORDINATOR_LOGS_LOG_DESK_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/sync/mutex.h"
#include "coordinator/logs/bulletin.h"
#include "coordinator/logs/log_store.h"

namespace rekindle::coordinator {

class LogDesk {
 public:
  static constexpr size_t kMaxTasks = 100'000;
  // The lines in tasks that have not run yet have at most `kMaxBytes` bytes together.
  static constexpr size_t kMaxBytes = 64 << 20;

  // Opens the store of logs and starts the thread. The errors are those of LogStore::Open.
  static absl::StatusOr<std::unique_ptr<LogDesk>> Start(LogStore::Options options);
  ~LogDesk() { Stop(); }
  LogDesk(const LogDesk&) = delete;

  // Runs the tasks that were posted, wakes everybody who waits on the bulletin, and ends the thread. Stop is
  // idempotent, and must not be called on the desk's thread.
  void Stop();

  // Runs `task` on the desk's thread. Any thread may call Post. `bytes` is the size of the lines that the task holds.
  // UNAVAILABLE means that the desk has stopped or has too much to do, and that the task will not run.
  absl::Status Post(std::function<void()> task, size_t bytes = 0);

  // The public functions from `store` on must be called on the desk's thread.
  LogStore& store() { return *store_; }
  // The topics of the bulletin are uids of jobs, and its times are those of now().
  Bulletin& bulletin() { return bulletin_; }
  // Returns the time of the steady clock in seconds.
  static double now();
  bool stopped() const { return stopped_; }

 private:
  struct Task {
    std::function<void()> run;
    size_t bytes = 0;
  };

  explicit LogDesk(std::unique_ptr<LogStore> store) : store_(std::move(store)), thread_([this] { Run(); }) {}
  void Run();

  std::unique_ptr<LogStore> store_;
  // Only the desk's thread uses `bulletin_` and `stopped_`.
  Bulletin bulletin_;
  bool stopped_ = false;

  common::Mutex mutex_;
  common::CondVar arrived_;
  std::vector<Task> queue_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_LOG_DESK_H_
