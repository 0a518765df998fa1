// The thread that has the logs of all jobs: whoever adds to them or reads them leaves a task there, and waits for news
// on its bulletin. So no disk ever holds up the coordinator's decisions.
#ifndef REKINDLE_COORDINATOR_LOGS_LOG_DESK_H_
#define REKINDLE_COORDINATOR_LOGS_LOG_DESK_H_

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/bulletin.h"
#include "coordinator/logs/log_store.h"

namespace rekindle::coordinator {

class LogDesk {
 public:
  static constexpr size_t kMaxTasks = 100'000;
  static constexpr size_t kMaxBytes = 64 << 20;  // Lines that wait to be kept have at most so many.

  // Errors of LogStore::Open.
  static absl::StatusOr<std::unique_ptr<LogDesk>> Start(LogStore::Options options);
  ~LogDesk() { Stop(); }
  LogDesk(const LogDesk&) = delete;

  // Runs what was posted, wakes all that waits, and ends the thread. Idempotent; not from the desk's thread.
  void Stop();

  // From any thread: runs `task` on the desk's. `bytes`: of lines that it holds. UNAVAILABLE: the desk has stopped or
  // has too much to do; it will not run.
  absl::Status Post(std::function<void()> task, size_t bytes = 0);

  // The rest on the desk's thread only.
  LogStore& store() { return *store_; }
  Bulletin& bulletin() { return bulletin_; }  // Topics: uids of jobs. Times: of now().
  static double now();                        // Steady seconds.
  bool stopped() const { return stopped_; }

 private:
  struct Task {
    std::function<void()> run;
    size_t bytes = 0;
  };

  explicit LogDesk(std::unique_ptr<LogStore> store) : store_(std::move(store)), thread_([this] { Run(); }) {}
  void Run();

  std::unique_ptr<LogStore> store_;
  Bulletin bulletin_;
  bool stopped_ = false;

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Task> queue_;
  size_t bytes_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_LOG_DESK_H_
