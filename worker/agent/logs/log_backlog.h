// Decides which pieces of trainers' logs to send to the coordinator next. The log files on the node are the truth.
// LogBacklog remembers only up to where the coordinator has each log, and asks the coordinator again whenever that may
// have changed.
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
  // A log file keeps the last `keep_sent` bytes of those that the coordinator already has.
  int64_t keep_sent = 16 << 20;
  // A log file keeps at most `keep_unsent` bytes that the coordinator does not have.
  int64_t keep_unsent = 64 << 20;
  // The node keeps at most `ended_logs` logs of ended trainers that the coordinator has in full.
  size_t ended_logs = 64;
  // The logs of ended trainers that the coordinator has in full take at most `ended_bytes` bytes together.
  int64_t ended_bytes = 128 << 20;
  // `unsent_logs`, `unsent_bytes` and `unsent_seconds` limit the logs of ended trainers that the coordinator does not
  // have in full.
  size_t unsent_logs = 256;
  int64_t unsent_bytes = 512 << 20;
  // A log that the coordinator does not have in full is removed `unsent_seconds` after its last write.
  double unsent_seconds = 7 * 24 * 3600;
};

// A LogBacklog is thread-compatible. Times are seconds of any steady clock.
class LogBacklog {
 public:
  LogBacklog(std::string folder, LogLimits limits, FreeBlocks free_blocks)
      : folder_(std::move(folder)), limits_(limits), free_blocks_(std::move(free_blocks)) {}

  // Takes over the logs in `folder` that an earlier agent left. Their trainers count as ended until Start says
  // otherwise.
  void Recall();
  // Adds the log of a trainer that runs, or that ran until an earlier agent ended.
  void Start(const std::string& trainer, const std::string& job_uid, const std::string& path);
  void End(const std::string& trainer, double now);

  // Makes the next report ask the coordinator up to where it has one of the logs, because the coordinator may be
  // another process than before. Its answer says which process it is.
  void Greet();
  // Returns the pieces of logs to send now. The report is empty if there is nothing to send.
  v1::LogReport NextReport(double now);
  // Takes the coordinator's answer to `report`. Returns whether the coordinator made progress with any log of the
  // report.
  bool TakeReply(const v1::LogReport& report, const v1::LogReply& reply, double now);
  // Frees the parts of logs that the node's disk need not keep any longer. `wall` is in Unix seconds.
  void Tidy(double wall);

  // Returns the time at which there may be log lines to send even if no trainer starts or ends. It returns `now` if
  // there may be some already.
  double NextSendAt(double now) const;
  // Returns whether the coordinator has all that ended trainers wrote, apart from logs that it does not take.
  bool IsAllSent() const;
  // Returns whether the last report left log lines out for lack of room.
  bool has_more() const { return has_more_; }

 private:
  struct Log {
    LogFile file;
    bool has_ended = false;
    double ended_at = 0;
    // The coordinator has the log up to the position `kept`. The field is unset if the coordinator has to be asked.
    std::optional<int64_t> kept;
    // `last_kept` says that the coordinator has the log's last piece.
    bool last_kept = false;
    // `not_welcome` says that the coordinator does not take this log for now.
    bool not_welcome = false;
    // The coordinator is not asked about this log before the time `not_before`.
    double not_before = 0;
    double pause = 0;
    // A settled log has been sent in full and is not read any more.
    bool is_settled = false;
    int64_t freed_to = 0;
  };

  void Add(LogFile file);
  void RemoveEnded(bool sent, size_t most, int64_t most_bytes, double oldest);

  const std::string folder_;
  const LogLimits limits_;
  const FreeBlocks free_blocks_;
  // `logs_` has the log of each trainer, keyed by the trainer's name.
  std::map<std::string, Log> logs_;
  // `next_` is the trainer whose log comes first in the next report.
  std::string next_;
  // `process_` names the process of the coordinator that answered last.
  std::string process_;
  bool has_more_ = false;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LOGS_LOG_BACKLOG_H_
