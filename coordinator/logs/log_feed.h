// What one reader of a job's log is told, page by page: lines, and where some are missing and why.
#ifndef REKINDLE_COORDINATOR_LOGS_LOG_FEED_H_
#define REKINDLE_COORDINATOR_LOGS_LOG_FEED_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/bulletin.h"
#include "coordinator/logs/log_store.h"
#include "rekindle/v1/coordinator.pb.h"

namespace rekindle::coordinator {

// What is known of a node that lines came from.
struct LogNode {
  std::string incarnation;  // The incarnation of its folder.
  bool is_lost = false;     // Nothing is heard of it.
};
using LogNodes = std::map<std::string, LogNode>;  // By name. What is not there is lost, too.

// Thread-compatible.
class LogFeed {
 public:
  // How things are at the time of a pull.
  struct Facts {
    std::shared_ptr<const LogNodes> nodes;  // Not null.
    bool is_over = false;                   // The job.
    double now = 0;                         // Seconds of any steady clock, as are those of `wait`.
    double wall = 0;                        // Unix seconds.
  };
  struct Pulled {
    v1::LogLines lines;  // None: ended, or wait.
    bool more = true;    // False: these were the last.
    Bulletin::Wait wait;
  };

  static constexpr double kShortestInterval = 0.1;  // Between two pages of new lines.
  static constexpr double kTrailingSeconds = 2;     // After a job's end its last lines may still be on their way,
  static constexpr double kLongestTrailing = 15;    // and so long where a node has not said that there are no more.
  static constexpr double kLookAgain = 2;           // That a node is lost, or a job over, makes no line.

  LogFeed(std::string job_uid, const v1::ReadLogRequest& request);

  Pulled Pull(LogStore& store, Bulletin& bulletin, const Facts& facts);

 private:
  void Begin(JobLog& log, const Facts& facts);
  // Adds the item, and what is to be said after it.
  void Add(LogItem item, JobLog& log, const LogNodes& nodes, v1::LogLines* lines);
  // Tells of the trainers that are known to be lost by now.
  void AddLost(JobLog& log, const LogNodes& nodes, v1::LogLines* lines);
  bool IsDone(JobLog* log, const Facts& facts);

  const std::string job_uid_;
  const v1::ReadLogRequest request_;
  bool begun_ = false;
  LogCursor cursor_;
  // Trainers whose newest line was told, and who were not lost then.
  std::map<std::string, int64_t> waiting_;  // Where they stood.
  double over_since_ = kForever;
  double quiet_since_ = kForever;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_LOG_FEED_H_
