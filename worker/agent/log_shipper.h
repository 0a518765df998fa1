// Sends what trainers write to the coordinator, on a thread and a connection of its own: a log never holds up a report.
//
// What was sent counts as kept when the coordinator has said so; after any restart, of either side, it goes on from
// what the coordinator has.
#ifndef REKINDLE_WORKER_AGENT_LOG_SHIPPER_H_
#define REKINDLE_WORKER_AGENT_LOG_SHIPPER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "rekindle/v1/node.pb.h"
#include "worker/agent/log_backlog.h"

namespace rekindle::agent {

// Thread-safe.
class LogShipper {
 public:
  struct Options {
    std::string folder;  // The folder of the logs.
    LogLimits limits;
    FreeBlocks free_blocks = PunchHole;
    double period_seconds = 0.25;      // Between two looks at what was written,
    double backlog_seconds = 0.05;     // between two reports where one is not enough,
    double longest_retry_seconds = 2;  // and between two tries while the coordinator does not take any.
  };
  // How reports get to the coordinator.
  struct Transport {
    // Waits for the answer. The node's name and cluster are filled in there.
    std::function<absl::StatusOr<v1::LogReply>(v1::LogReport)> send;
    std::function<void()> cancel;  // Ends a call that waits, and all that come after it. From any thread.
    // The number of the connection to the coordinator that the node obeys: another one after each time that it was
    // away. 0: it is away. From any thread.
    std::function<int64_t()> connection;
  };

  explicit LogShipper(Options options);
  ~LogShipper() { Stop(); }
  LogShipper(const LogShipper&) = delete;

  // Sends from now on. Once.
  void Run(Transport transport);
  // Ends that. Idempotent.
  void Stop();

  // Tell LogBacklog, and return at once: no disk is waited for.
  void Start(const std::string& trainer, const std::string& job_uid, const std::string& path);
  void End(const std::string& trainer);

  // Waits until all that trainers have written who ended is sent, at most so long, and no longer than there is somebody
  // to send it to.
  void Finish(double seconds);

 private:
  struct News {
    std::string trainer;
    std::string job_uid;  // Empty: it has ended.
    std::string path;
    double at = 0;
  };

  void Tell(News news);
  void TakeNews(std::unique_lock<std::mutex>& lock);
  void Loop();
  // Once: sends what there is. Returns when to do so again.
  double Turn();

  const Options options_;
  Transport transport_;
  // The thread's own.
  LogBacklog backlog_;
  double retry_seconds_ = 0;
  double tidy_at_ = 0;
  int64_t connection_ = 0;

  std::mutex mutex_;  // Guards what follows.
  std::condition_variable changed_;
  std::vector<News> news_;
  bool is_all_sent_ = false;  // The last turn found it so.
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LOG_SHIPPER_H_
