// Sends what trainers write to the coordinator. The shipper has a thread and a connection of its own, so that a log
// never delays a report of the node.
//
// A line counts as kept once the coordinator has acknowledged it. After a restart of the agent or of the coordinator,
// the shipper continues after the lines that the coordinator has.
#ifndef REKINDLE_WORKER_AGENT_LOGS_LOG_SHIPPER_H_
#define REKINDLE_WORKER_AGENT_LOGS_LOG_SHIPPER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/node.pb.h"
#include "worker/agent/logs/log_backlog.h"

namespace rekindle::agent {

// A LogShipper is thread-safe, except that one thread has to call Run(), Finish() and Stop().
class LogShipper {
 public:
  struct Options {
    // `folder` is the folder with the trainers' logs.
    std::string folder;
    LogLimits limits;
    FreeBlocks free_blocks = PunchHole;
    // `period_seconds` is the time between two looks at what the trainers wrote.
    double period_seconds = 0.25;
    // `backlog_seconds` is the time between two reports if the lines do not fit into one.
    double backlog_seconds = 0.05;
    // `longest_retry_seconds` is the longest time between two tries while the coordinator accepts no lines.
    double longest_retry_seconds = 2;
  };
  // Holds the functions through which log reports reach the coordinator.
  struct Transport {
    // Sends a report to the coordinator and waits for the answer. `send` itself fills in the node's name and cluster.
    std::function<absl::StatusOr<v1::LogReply>(v1::LogReport)> send;
    // Cancels the call to the coordinator that is in flight, and all later calls. Any thread may call `cancel`.
    std::function<void()> cancel;
    // Returns the number of the connection to the coordinator that the node obeys, or 0 while that coordinator is away.
    // The number grows each time that the coordinator is back. Any thread may call `connection`.
    std::function<int64_t()> connection;
  };

  explicit LogShipper(Options options);
  ~LogShipper() { Stop(); }
  LogShipper(const LogShipper&) = delete;

  // Starts the thread that sends the logs. REQUIRES: Run() is called at most once.
  void Run(Transport transport);
  // Ends the thread that sends the logs. Stop() is idempotent.
  void Stop();

  // Start() and End() say that a trainer has started or ended. They return at once without waiting for the disk, and
  // LogBacklog is told later.
  void Start(const std::string& trainer, const std::string& job_uid, const std::string& path);
  void End(const std::string& trainer);

  // Waits until all that ended trainers wrote is sent. Finish() gives up after `seconds`, or earlier if the coordinator
  // cannot be reached.
  void Finish(double seconds);

 private:
  struct News {
    std::string trainer;
    // An empty `job_uid` means that the trainer has ended.
    std::string job_uid;
    std::string path;
    double at = 0;
  };

  void Tell(News news);
  void Take(const std::vector<News>& news);
  void Loop();
  // Sends one report if there is something to send. Returns the time at which to do so again, in steady seconds.
  double Turn();

  const Options options_;
  Transport transport_;
  // `backlog_`, `retry_seconds_`, `tidy_at_` and `connection_` are used only by `thread_`.
  LogBacklog backlog_;
  double retry_seconds_ = 0;
  double tidy_at_ = 0;
  int64_t connection_ = 0;

  common::Mutex mutex_;
  common::CondVar changed_;
  std::vector<News> news_ ABSL_GUARDED_BY(mutex_);
  // `is_all_sent_` says that the last turn of the thread found nothing left to send.
  bool is_all_sent_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LOGS_LOG_SHIPPER_H_
