// Ends a job: sets its state and its reason, and emits the event that it is over.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_JOB_END_H_
#define REKINDLE_COORDINATOR_CORE_STATE_JOB_END_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Ends the job. `kind` is the kind of the event, and `reason` is its text and the job's reason.
void EndJob(Turn& turn, Job& job, v1::JobState state, const std::string& kind, const std::string& reason);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_JOB_END_H_
