// What the coordinator does not have of the logs on this node, and what to send next. The files are the truth: nothing
// is remembered but where the coordinator stands, and that is asked again whenever it may have changed.
#ifndef REKINDLE_WORKER_AGENT_LOG_BACKLOG_H_
#define REKINDLE_WORKER_AGENT_LOG_BACKLOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "rekindle/v1/node.pb.h"
#include "worker/agent/log_file.h"

namespace rekindle::agent {

struct LogLimits {
  int64_t keep_sent = 16 << 20;     // Of a log, so much stays in its file of what the coordinator has,
  int64_t keep_unsent = 64 << 20;   // and so much of what it has not.
  size_t ended_logs = 64;           // Of trainers that have ended, with all sent: so many,
  int64_t ended_bytes = 128 << 20;  // of so many bytes together.
  size_t unsent_logs = 256;         // The same of those with something left to send,
  int64_t unsent_bytes = 512 << 20;
  double unsent_seconds = 7 * 24 * 3600;  // and for so long.
};

// Thread-compatible. Times are of any steady clock.
class LogBacklog {
 public:
  LogBacklog(std::string folder, LogLimits limits, FreeBlocks free_blocks)
      : folder_(std::move(folder)), limits_(limits), free_blocks_(std::move(free_blocks)) {}

  // Takes the logs of `folder` that an earlier agent left: of trainers that have ended, as far as is known.
  void Recall();
  // A trainer runs and writes there, or has done so until an earlier agent was gone.
  void Start(const std::string& trainer, const std::string& job_uid, const std::string& path);
  void End(const std::string& trainer, double now);

  // The coordinator may be another process than before: something is to be asked of it, so that it says which it is.
  void Greet();
  // Pieces to be sent now; none: nothing is to be.
  v1::LogReport NextReport(double now);
  // The answer to that. Returns whether the coordinator got on with any of it.
  bool TakeReply(const v1::LogReport& report, const v1::LogReply& reply, double now);
  // Frees what need not be kept any longer on the node's disk. `wall`: Unix seconds.
  void Tidy(double wall);

  // When there may be something to send, without any news; `now`: at once.
  double NextLook(double now) const;
  // Everything of trainers that have ended is with the coordinator, as far as it wants it.
  bool IsAllSent() const;
  // The last report took less than there was.
  bool has_more() const { return has_more_; }

 private:
  struct Log {
    LogFile file;
    bool has_ended = false;
    double ended_at = 0;
    std::optional<int64_t> kept;  // Up to there the coordinator has it; not known: it is to be asked.
    bool last_kept = false;       // It knows that there is no more.
    bool not_welcome = false;     // It does not want it for now.
    double not_before = 0;        // Nor is it asked again before that.
    double pause = 0;
    bool is_settled = false;  // It is not looked at any more.
    int64_t freed_to = 0;
  };

  void Add(LogFile file);
  void RemoveEnded(bool sent, size_t most, int64_t most_bytes, double oldest);

  const std::string folder_;
  const LogLimits limits_;
  const FreeBlocks free_blocks_;
  std::map<std::string, Log> logs_;  // By trainer.
  std::string next_;                 // Trainer that comes first in the next report.
  std::string process_;              // Names the coordinator's process that answered last.
  bool has_more_ = false;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LOG_BACKLOG_H_
