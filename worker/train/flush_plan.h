// What to save when a node's interruption was announced and little time is left. Pure.
#ifndef REKINDLE_WORKER_TRAIN_FLUSH_PLAN_H_
#define REKINDLE_WORKER_TRAIN_FLUSH_PLAN_H_

#include <cstdint>
#include <string>

namespace rekindle::train {

struct FlushSituation {
  double seconds_left = 0;      // Until the node is gone.
  bool replica_stays = false;   // A live replica of the whole state is on a node that stays.
  int64_t plane0_bytes = 0;     // What the rank with most to write has of each plane.
  int64_t plane1_bytes = 0;     // 0: the job keeps none.
  double bytes_per_second = 0;  // Measured of one rank while all write, until durable; 0: not measured yet.
};

enum class FlushPlan { kNothing, kPlane0, kBothPlanes };

struct FlushDecision {
  FlushPlan plan = FlushPlan::kNothing;
  std::string reason;  // One sentence.
};

// Plane 0 first: it is usable alone. Plane 1 only where both fit well within the time, so that it never costs plane 0.
FlushDecision PlanFlush(const FlushSituation& situation);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_FLUSH_PLAN_H_
