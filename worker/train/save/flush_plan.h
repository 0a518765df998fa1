// Plans what to save when the end of all nodes was announced and little time is left. The code is pure. It is not used
// while a live replica stays.
#ifndef REKINDLE_WORKER_TRAIN_SAVE_FLUSH_PLAN_H_
#define REKINDLE_WORKER_TRAIN_SAVE_FLUSH_PLAN_H_

#include <cstdint>
#include <string>

namespace rekindle::train {

struct FlushSituation {
  // The node is gone in `seconds_left` seconds.
  double seconds_left = 0;
  // `plane0_bytes` and `plane1_bytes` are those of the rank with most to write. `plane1_bytes` is 0 if the job keeps no
  // plane 1.
  int64_t plane0_bytes = 0;
  int64_t plane1_bytes = 0;
  // `bytes_per_second` was measured on one rank while all ranks write, until the data is durable. It is 0 before the
  // first measurement.
  double bytes_per_second = 0;
  // `exact_only` says that the job cannot go on from a checkpoint without plane 1.
  bool exact_only = false;
};

enum class FlushPlan { kNothing, kPlane0, kBothPlanes };

struct FlushDecision {
  FlushPlan plan = FlushPlan::kNothing;
  // `reason` is one sentence.
  std::string reason;
};

// Returns the plan. Plane 0 comes first, because it is usable alone unless the result of the job must be exact. Plane 1
// is saved only if both fit well within the time, so that it never costs plane 0.
FlushDecision PlanFlush(const FlushSituation& situation);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SAVE_FLUSH_PLAN_H_
