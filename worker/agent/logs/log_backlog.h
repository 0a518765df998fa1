// Decides what to send next of the logs that the coordinator does not have yet. The files are the truth. The class
// remembers only how far the coordinator is, and asks it again whenever that may have changed.
#ifndef REKINDLE_WORKER_AGENT_LOGS_LOG_BACKLOG_H_
#define REKINDLE_WORKER_AGENT_LOGS_LOG_BACKLOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "rekindle/v1/node.pb.h"
#include "worker/agent/logs/log_file.h"

namespace rekindle::agent {

struct LogLimits {
  // Of what the coordinator has, a file keeps this many bytes.
  int64_t keep_sent = 16 << 20;
  // A file keeps at most this many bytes that the coordinator does not have.
  int64_t keep_unsent = 64 << 20;
  // The node keeps at most this many logs of ended trainers of which all is sent.
  size_t ended_logs = 64;
  // Logs of ended trainers of which all is sent take at most this many bytes together.
  int64_t ended_bytes = 128 << 20;
  // The next three limits hold for logs of ended trainers of which something is not sent.
  size_t unsent_logs = 256;
  int64_t unsent_bytes = 512 << 20;
  // A log of which something is not sent is removed after this long without a write.
  double unsent_seconds = 7 * 24 * 3600;
};

// The class is thread-compatible. Times are seconds of any steady clock.
class LogBacklog {
 public:
  LogBacklog(std::string folder, LogLimits limits, FreeBlocks free_blocks)
      : folder_(std::move(folder)), limits_(limits), free_blocks_(std::move(free_blocks)) {}

  // Takes over the logs in `folder` that an earlier agent left. Their trainers count as ended until Start says
  // otherwise.
  void Recall();
  // Adds the log of a trainer that runs, or that ran until an earlier agent was gone.
  void Start(const std::string& trainer, const std::string& job_uid, const std::string& path);
  void End(const std::string& trainer, double now);

  // Makes the next report ask the coordinator for something, because it may be another process than before. Its answer
  // says which process it is.
  void Greet();
  // Returns the pieces to send now. The report is empty if there is nothing to send.
  v1::LogReport NextReport(double now);
  // Takes the answer to `report`. Returns whether the coordinator made progress with any of it.
  bool TakeReply(const v1::LogReport& report, const v1::LogReply& reply, double now);
  // Frees what the node's disk need not keep any longer. `wall` is in Unix seconds.
  void Tidy(double wall);

  // Returns when there may be something to send even without news. It returns `now` if there may be something already.
  double NextSendAt(double now) const;
  // Returns whether the coordinator has all that ended trainers wrote, as far as it takes their logs.
  bool IsAllSent() const;
  // Returns whether the last report left something out for lack of room.
  bool has_more() const { return has_more_; }

 private:
  struct Log {
    LogFile file;
    bool has_ended = false;
    double ended_at = 0;
    // The coordinator has the log up to this position. The field is unset if the coordinator has to be asked.
    std::optional<int64_t> kept;
    // The coordinator knows that no more follows.
    bool last_kept = false;
    // The coordinator does not take this log for now.
    bool not_welcome = false;
    // The coordinator is not asked about this log before that time.
    double not_before = 0;
    double pause = 0;
    // A settled log is not looked at any more.
    bool is_settled = false;
    int64_t freed_to = 0;
  };

  void Add(LogFile file);
  void RemoveEnded(bool sent, size_t most, int64_t most_bytes, double oldest);

  const std::string folder_;
  const LogLimits limits_;
  const FreeBlocks free_blocks_;
  std::map<std::string, Log> logs_;  // By trainer.
  // `next_` is the trainer that comes first in the next report.
  std::string next_;
  // `process_` names the coordinator's process that answered last.
  std::string process_;
  bool has_more_ = false;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LOGS_LOG_BACKLOG_H_
