// Lets trainers that wait start anew when the record of their job has been brought back.
#ifndef REKINDLE_COORDINATOR_CORE_TAKEN_OVER_FRESH_START_H_
#define REKINDLE_COORDINATOR_CORE_TAKEN_OVER_FRESH_START_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Lets a job's waiting trainers start anew after records were brought back from a copy. What the trainers found in the
// store when they started may be older than what is there now, and the record does not know of that either. They look
// into the store again as they start.
void StartWaitingAnew(const Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_TAKEN_OVER_FRESH_START_H_
