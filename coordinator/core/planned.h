// Changes that need no failure: they wait for a step boundary that the members agree on.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNED_H_
#define REKINDLE_COORDINATOR_CORE_PLANNED_H_

#include "coordinator/core/state.h"

namespace rekindle::core {

// Tells the members to stop at the next boundary when something is wanted: pause, drain, a joiner, better ranges.
// While they stop, what else is wanted is added. REQUIRES: job.active.
void ConsiderChange(Turn& turn, Job& job);

// Forgets suspicions of pairs that have worked well for long, and ends exclusions.
void EaseSuspicions(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNED_H_
