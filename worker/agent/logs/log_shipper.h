// Sends what trainers write to the coordinator. It has a thread and a connection of its own, so that a log never delays
// a report.
//
// A line counts as kept when the coordinator has said so. After a restart of either side, the sending goes on from what
// the coordinator has.
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

// The class is thread-safe, except that one thread has to call Run(), Finish() and Stop().
class LogShipper {
 public:
  struct Options {
    // `folder` is the folder of the logs.
    std::string folder;
    LogLimits limits;
    FreeBlocks free_blocks = PunchHole;
    // `period_seconds` is the time between two looks at what was written.
    double period_seconds = 0.25;
    // `backlog_seconds` is the time between two reports if one is not enough.
    double backlog_seconds = 0.05;
    // `longest_retry_seconds` is the longest time between two tries while the coordinator takes nothing.
    double longest_retry_seconds = 2;
  };
  // Says how reports get to the coordinator.
  struct Transport {
    // Sends a report and waits for the answer. This function fills in the node's name and cluster.
    std::function<absl::StatusOr<v1::LogReply>(v1::LogReport)> send;
    // Ends a call that waits, and all calls after it. Any thread may call this.
    std::function<void()> cancel;
    // Returns the number of the connection to the coordinator that the node obeys, or 0 while that is away. The number
    // changes each time that the coordinator was away. Any thread may call this.
    std::function<int64_t()> connection;
  };

  explicit LogShipper(Options options);
  ~LogShipper() { Stop(); }
  LogShipper(const LogShipper&) = delete;

  // Starts to send. REQUIRES: it is called at most once.
  void Run(Transport transport);
  // Ends the sending. Stop() is idempotent.
  void Stop();

  // Start() and End() pass the news on to LogBacklog later. They return at once and wait for no disk.
  void Start(const std::string& trainer, const std::string& job_uid, const std::string& path);
  void End(const std::string& trainer);

  // Waits until all that ended trainers wrote is sent. It waits at most `seconds`, and no longer than the coordinator
  // can be reached.
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
  // Sends once what there is. Returns when to do so again, in steady seconds.
  double Turn();

  const Options options_;
  Transport transport_;
  // The next four members are used by the thread alone.
  LogBacklog backlog_;
  double retry_seconds_ = 0;
  double tidy_at_ = 0;
  int64_t connection_ = 0;

  common::Mutex mutex_;
  common::CondVar changed_;
  std::vector<News> news_ ABSL_GUARDED_BY(mutex_);
  // The last turn found that all was sent.
  bool is_all_sent_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LOGS_LOG_SHIPPER_H_
