// Runs one planning cycle: the planner decides, and jobs get slots, lose slots, and have nodes ordered for them
// accordingly.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_PLANNING_CYCLE_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_PLANNING_CYCLE_H_

#include <vector>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Decides which slots each job has from now on. Returns the jobs that have to be looked at again, in order of
// submission. REQUIRES: slots that nobody has any more are free (slot_placement.h).
std::vector<Job*> RunCycle(Turn& turn);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_PLANNING_CYCLE_H_
