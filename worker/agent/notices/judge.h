// Makes one verdict of all the notices that stand. The code is pure.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_JUDGE_H_
#define REKINDLE_WORKER_AGENT_NOTICES_JUDGE_H_

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

// A machine that is taken later than this keeps working for now. A drain takes seconds, and idle hours cost money.
inline constexpr double kNearSeconds = 300;

// A machine whose time is over but which still runs gets this time. To be killed in a drain costs no more than to stop
// at once.
inline constexpr double kLeastSeconds = 2;

struct Verdict {
  // The node has to drain now.
  bool leaves = false;
  // `leave_at` is in steady seconds. It is infinity if no source says when.
  double leave_at = std::numeric_limits<double>::infinity();
  // The text is like "a 118 s notice from aws: ...".
  std::string reason;
  // The text says what may happen later. It is empty if nothing is known.
  std::string hint;

  bool operator==(const Verdict&) const = default;
};

// Counts how a source's notices have changed, for the metrics.
struct NoticeCounts {
  // `leaves` counts new notices that say that the machine will be taken.
  int leaves = 0;
  // `hints` counts new notices that say that the machine may be taken.
  int hints = 0;
  // `withdrawn` counts notices that stand no more.
  int withdrawn = 0;

  bool operator==(const NoticeCounts&) const = default;
};

class Judge {
 public:
  // Takes all notices that stand at `source`, in place of those that stood there before. `wall` and `steady` are the
  // two clocks now. A time that was taken once is kept by the steady clock, so setting the wall clock does not move it.
  // A notice whose time or words change is not counted again.
  NoticeCounts Hear(const std::string& source, const std::vector<Notice>& notices, double wall, double steady);
  Verdict Decide(double steady) const;
  // Returns the notices, with their sources, that wait for an acknowledgement and for which the verdict is to leave.
  std::vector<std::pair<std::string, Notice>> ToAcknowledge(double steady) const;

 private:
  struct Standing {
    Notice notice;
    double leave_at = 0;
    std::string words;
  };
  std::map<std::string, std::vector<Standing>> standing_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_JUDGE_H_
