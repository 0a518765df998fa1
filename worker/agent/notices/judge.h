// Makes one verdict of all the interruption notices that stand: whether and until when the node has to drain. The code
// is pure.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_JUDGE_H_
#define REKINDLE_WORKER_AGENT_NOTICES_JUDGE_H_

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

// A machine that will be taken away later than `kNearSeconds` from now keeps working. A drain takes seconds, and idle
// hours cost money.
inline constexpr double kNearSeconds = 300;

// A machine that still runs although the time of its notice has run out gets `kLeastSeconds` to drain. If the machine
// is taken away during the drain, no more is lost than if its trainers had been stopped at once.
inline constexpr double kLeastSeconds = 2;

struct Verdict {
  // `leaves` says that the node has to drain now.
  bool leaves = false;
  // `leave_at` is when the machine will be taken away, in steady seconds. It is infinity if no source says when.
  double leave_at = std::numeric_limits<double>::infinity();
  // `reason` is a text like "a 118 s notice from aws: ...".
  std::string reason;
  // `hint` says what may happen to the machine later. It is empty if nothing is known.
  std::string hint;

  bool operator==(const Verdict&) const = default;
};

// Counts how a source's notices have changed, for the metrics.
struct NoticeCounts {
  // `leaves` counts new notices that say that the machine will be taken away.
  int leaves = 0;
  // `hints` counts new notices that say that the machine may be taken away.
  int hints = 0;
  // `withdrawn` counts notices that their source no longer shows.
  int withdrawn = 0;

  bool operator==(const NoticeCounts&) const = default;
};

class Judge {
 public:
  // Takes all notices that the source shows now, in place of those that it showed before. `wall` and `steady` are what
  // the two clocks show. The time of a notice is converted to the steady clock when the notice is first heard, so
  // setting the wall clock does not move it. A notice whose time or words change is not counted again.
  NoticeCounts Hear(const std::string& source, const std::vector<Notice>& notices, double wall, double steady);
  Verdict Decide(double steady) const;
  // Returns the notices, with their sources, that wait for an acknowledgement and for which the node drains now.
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
