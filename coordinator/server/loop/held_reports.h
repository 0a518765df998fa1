// Keeps the reports that came while the state store could not be written, until the core can act on them or their
// callers must have an answer.
#ifndef REKINDLE_COORDINATOR_SERVER_LOOP_HELD_REPORTS_H_
#define REKINDLE_COORDINATOR_SERVER_LOOP_HELD_REPORTS_H_

#include <vector>

#include "absl/status/status.h"
#include "coordinator/server/loop/loop_items.h"

namespace rekindle::coordinator {

// HeldReports is thread-compatible.
class HeldReports {
 public:
  // Keeps those of the items that are reports, refuses the changes with `why`, and runs the tasks.
  void Hold(std::vector<LoopItem> items, const absl::Status& why);
  // Answers the reports whose deadline is over at `now` with `why`. Reports of pools have no deadline.
  void Expire(double now, const absl::Status& why);
  // Returns the next deadline of a report, or infinity when there is none.
  double NextDeadline() const;
  // Returns all reports that are held, and holds none any more.
  std::vector<LoopItem> Take();

 private:
  std::vector<LoopItem> items_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_HELD_REPORTS_H_
