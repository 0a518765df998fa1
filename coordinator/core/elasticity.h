// What elasticity saves (docs/costs.md): what steps cost that were made with fewer workers than the job has had at
// once. One of fixed size that keeps its nodes while it waits for the missing ones makes none of them, and pays the
// same.
#ifndef REKINDLE_COORDINATOR_CORE_ELASTICITY_H_
#define REKINDLE_COORDINATOR_CORE_ELASTICITY_H_

#include "coordinator/core/state.h"

namespace rekindle::core {

// A step has ended now: what the job has spent since the one before, or since its members were put together, is of as
// many workers as it has.
void CountStep(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ELASTICITY_H_
