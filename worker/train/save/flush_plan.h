// Plans what to save when the end of all nodes was announced and little time is left (a flush). The code is pure. A job
// whose state stays alive on another node needs no flush.
#ifndef REKINDLE_WORKER_TRAIN_SAVE_FLUSH_PLAN_H_
#define REKINDLE_WORKER_TRAIN_SAVE_FLUSH_PLAN_H_

#include <cstdint>
#include <string>

namespace rekindle::train {

struct FlushSituation {
  // The node is gone in `seconds_left` seconds.
  double seconds_left = 0;
  // `plane0_bytes` and `plane1_bytes` are the sizes of the two planes of the state (checkpoint/format/planes.h) on the
  // rank that has most to write. `plane1_bytes` is 0 if the job keeps no plane 1.
  int64_t plane0_bytes = 0;
  int64_t plane1_bytes = 0;
  // `bytes_per_second` is the rate at which the data of one rank becomes durable while all ranks write. It is 0 before
  // the first measurement.
  double bytes_per_second = 0;
  // `exact_only` says that the job cannot go on from a checkpoint without plane 1.
  bool exact_only = false;
};

enum class FlushPlan { kNothing, kPlane0, kBothPlanes };

struct FlushDecision {
  FlushPlan plan = FlushPlan::kNothing;
  // `reason` is one sentence that explains the plan.
  std::string reason;
};

// Returns which planes to save. Plane 0 comes first, because it is usable alone unless the result of the job must be
// exact. Plane 1 is saved only if there is ample time for both planes, so that plane 0 is never lost because of it.
FlushDecision PlanFlush(const FlushSituation& situation);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SAVE_FLUSH_PLAN_H_
