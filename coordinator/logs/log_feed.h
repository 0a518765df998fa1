// Decides what one reader of a job's log gets, page by page: lines, and notes that say where some are missing and why.
#ifndef REKINDLE_COORDINATOR_LOGS_LOG_FEED_H_
#define REKINDLE_COORDINATOR_LOGS_LOG_FEED_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/logs/bulletin.h"
#include "coordinator/logs/log_store.h"
#include "rekindle/v1/coordinator.pb.h"

namespace rekindle::coordinator {

// Describes a node that lines came from.
struct LogNode {
  // `incarnation` is the incarnation of the node's folder.
  std::string incarnation;
  // `is_lost` says that nothing is heard of the node.
  bool is_lost = false;
};
// The key of `LogNodes` is the node's name. A node that is missing here is lost, too.
using LogNodes = std::map<std::string, LogNode>;

// This class is thread-compatible.
class LogFeed {
 public:
  // Holds what is known at the time of a pull.
  struct Facts {
    // `nodes` must not be null.
    std::shared_ptr<const LogNodes> nodes;
    // `is_over` says that the job is over.
    bool is_over = false;
    // `now` and the times in `wait` are seconds of the same steady clock.
    double now = 0;
    double wall = 0;  // Unix seconds.
  };
  struct Pulled {
    // When there are no `lines`, the feed has ended or has to wait.
    v1::LogLines lines;
    // `more` is false when these lines were the last.
    bool more = true;
    Bulletin::Wait wait;
  };

  // At least `kShortestInterval` passes between two pages of new lines. Seconds.
  static constexpr double kShortestInterval = 0.1;
  // After a job's end its last lines may still be on their way, so the feed waits for kTrailingSeconds without new
  // lines. It waits up to kLongestTrailing for a node that has not said that there are no more.
  static constexpr double kTrailingSeconds = 2;
  static constexpr double kLongestTrailing = 15;
  // The feed looks again after `kLookAgain` seconds, because no line arrives when a node is lost or a job is over.
  static constexpr double kLookAgain = 2;

  LogFeed(std::string job_uid, const v1::ReadLogRequest& request);

  Pulled Pull(LogStore& store, Bulletin& bulletin, const Facts& facts);

 private:
  void Begin(JobLog& log, const Facts& facts);
  // Adds the item, and the note that belongs after it.
  void Add(LogItem item, JobLog& log, const LogNodes& nodes, v1::LogLines* lines);
  // Adds notes about the trainers that are known to be lost by now.
  void AddLost(JobLog& log, const LogNodes& nodes, v1::LogLines* lines);
  bool IsDone(JobLog* log, const Facts& facts);

  const std::string job_uid_;
  const v1::ReadLogRequest request_;
  bool begun_ = false;
  LogCursor cursor_;
  // `waiting_` holds the trainers whose newest line the reader has got and that were not lost at that time. The value
  // is the position of the trainer then.
  std::map<std::string, int64_t> waiting_;
  double over_since_ = kForever;
  double quiet_since_ = kForever;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_LOG_FEED_H_
