// From all the notices that stand to one verdict. Pure.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_JUDGE_H_
#define REKINDLE_WORKER_AGENT_NOTICES_JUDGE_H_

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

// A machine that goes later than this works on until then: a drain takes seconds, and idle hours cost money.
inline constexpr double kNearSeconds = 300;

// A machine whose time is over while it still runs: to be killed in a drain costs no more than to stop at once.
inline constexpr double kLeastSeconds = 2;

struct Verdict {
  bool leaves = false;                                        // Drain now.
  double leave_at = std::numeric_limits<double>::infinity();  // Steady seconds; infinity: nobody said when.
  std::string reason;                                         // "a 118 s notice from aws: ..."
  std::string hint;                                           // What may happen later; empty: nothing is known.

  bool operator==(const Verdict&) const = default;
};

// How a source's notices have changed, for the metrics.
struct NoticeCounts {
  int leaves = 0;     // New: the machine will be taken.
  int hints = 0;      // New: it may be.
  int withdrawn = 0;  // They stand no more.

  bool operator==(const NoticeCounts&) const = default;
};

class Judge {
 public:
  // All that stands at `source`, in place of what stood there before. `wall` and `steady`: both clocks now. A time that
  // was told once is kept by the steady clock: setting the other one does not move it. One whose time or words change
  // is not counted again.
  NoticeCounts Hear(const std::string& source, const std::vector<Notice>& notices, double wall, double steady);
  Verdict Decide(double steady) const;
  // Those for which the verdict is to leave, and that wait to be told so, with their source.
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
