// What to save when the interruption of all nodes was announced and little time is left. Pure. While a live replica
// stays, nobody asks.
#ifndef REKINDLE_WORKER_TRAIN_FLUSH_PLAN_H_
#define REKINDLE_WORKER_TRAIN_FLUSH_PLAN_H_

#include <cstdint>
#include <string>

namespace rekindle::train {

struct FlushSituation {
  double seconds_left = 0;      // Until the node is gone.
  int64_t plane0_bytes = 0;     // What the rank with most to write has of each plane.
  int64_t plane1_bytes = 0;     // 0: the job keeps none.
  double bytes_per_second = 0;  // Measured of one rank while all write, until durable; 0: not measured yet.
  bool exact_only = false;      // The job takes up nothing that lacks plane 1.
};

enum class FlushPlan { kNothing, kPlane0, kBothPlanes };

struct FlushDecision {
  FlushPlan plan = FlushPlan::kNothing;
  std::string reason;  // One sentence.
};

// Plane 0 first: it is usable alone, but for a job whose result must be exact. Plane 1 only where both fit well within
// the time, so that it never costs plane 0.
FlushDecision PlanFlush(const FlushSituation& situation);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_FLUSH_PLAN_H_
