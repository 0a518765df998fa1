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

// Describes a node that lines of a log came from.
struct LogNode {
  // `incarnation` is the incarnation of the node's folder.
  std::string incarnation;
  // `is_lost` says that the coordinator does not hear of the node any more.
  bool is_lost = false;
};
// The key of `LogNodes` is the node's name. A node without an entry is lost, too.
using LogNodes = std::map<std::string, LogNode>;

// A LogFeed is thread-compatible.
class LogFeed {
 public:
  // Holds what the coordinator knows about a job when a reader of its log asks for the next page.
  struct Facts {
    // `nodes` must not be null.
    std::shared_ptr<const LogNodes> nodes;
    // `is_over` says that the job is over.
    bool is_over = false;
    // `now` and the times in `Pulled::wait` are seconds of the same steady clock.
    double now = 0;
    // `wall` is the present time in Unix seconds.
    double wall = 0;
  };
  struct Pulled {
    // An empty `lines` means that the feed has ended, or that the reader has to wait as `wait` says.
    v1::LogLines lines;
    // `more` is false when `lines` are the last lines of the feed.
    bool more = true;
    Bulletin::Wait wait;
  };

  // Between two pages of new lines, a reader waits for at least `kShortestInterval` seconds.
  static constexpr double kShortestInterval = 0.1;
  // After a job's end its last lines may still be on their way, so the feed waits until no line has come for
  // kTrailingSeconds. It waits up to kLongestTrailing for a node that has not said that it has sent everything.
  static constexpr double kTrailingSeconds = 2;
  static constexpr double kLongestTrailing = 15;
  // The feed looks at the job and its nodes again after `kLookAgain` seconds, because no line arrives when a node is
  // lost or a job is over.
  static constexpr double kLookAgain = 2;

  LogFeed(std::string job_uid, const v1::ReadLogRequest& request);

  Pulled Pull(LogStore& store, Bulletin& bulletin, const Facts& facts);

 private:
  void Begin(JobLog& log, const Facts& facts);
  // Adds the item to `lines`. If it is the last line of a trainer that is lost, a note that says so follows.
  void Add(LogItem item, JobLog& log, const LogNodes& nodes, v1::LogLines* lines);
  // Adds notes about the trainers that are known to be lost by now.
  void AddLost(JobLog& log, const LogNodes& nodes, v1::LogLines* lines);
  bool IsDone(JobLog* log, const Facts& facts);

  const std::string job_uid_;
  const v1::ReadLogRequest request_;
  bool begun_ = false;
  LogCursor cursor_;
  // `waiting_` holds trainers that were not lost when the reader got their newest line. The value is the trainer's
  // position at that time.
  std::map<std::string, int64_t> waiting_;
  double over_since_ = kForever;
  double quiet_since_ = kForever;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_LOG_FEED_H_
