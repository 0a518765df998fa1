// Decides changes of membership that need no failure. They wait for a step boundary that the members agree on.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_BOUNDARY_CHANGES_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_BOUNDARY_CHANGES_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Tells the members to stop at the next step boundary when something needs a stop: a pause, a drain, a joiner or better
// ranges. Members that were told to stop can be told only one thing more: to save a checkpoint, which is needed when
// all of them have to leave. REQUIRES: the job is active.
void ConsiderChange(Turn& turn, Job& job);

// Forgets the suspicion that two ranks cannot work together, once all ranks have worked well for long. Ends exclusions
// of nodes.
void EaseSuspicions(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_BOUNDARY_CHANGES_H_
