// Decides changes that need no failure. They wait for a step boundary that the members agree on.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_BOUNDARY_CHANGES_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_BOUNDARY_CHANGES_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Tells the members to stop at the next boundary when something is wanted: a pause, a drain, a joiner, better ranges.
// What else is wanted while they stop is added. REQUIRES: the job is active.
void ConsiderChange(Turn& turn, Job& job);

// Forgets suspicions of pairs that have worked well for long, and ends exclusions.
void EaseSuspicions(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_BOUNDARY_CHANGES_H_
