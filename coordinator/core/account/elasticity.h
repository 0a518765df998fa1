// Counts what elasticity saves (docs/costs.md): the cost of steps that were made with fewer workers than the most that
// the job has had at once. A job of fixed size that keeps its nodes while it waits for missing ones would pay the same
// for that time, but would make none of these steps.
#ifndef REKINDLE_COORDINATOR_CORE_ACCOUNT_ELASTICITY_H_
#define REKINDLE_COORDINATOR_CORE_ACCOUNT_ELASTICITY_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Books a step that has just ended. What the job has spent since the step before, or since its newest membership was
// formed, is booked for the present number of workers.
void CountStep(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ACCOUNT_ELASTICITY_H_
