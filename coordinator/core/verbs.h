// Carries out what users ask of jobs. A verb that is refused sets the effects' status, and the caller puts back what
// the verb has changed (state/refusal.h).
#ifndef REKINDLE_COORDINATOR_CORE_VERBS_H_
#define REKINDLE_COORDINATOR_CORE_VERBS_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns the error with which `Submit` would refuse a job of that record because of the check `what`, or OK.
absl::Status CheckSubmit(const State& state, SubmitCheck what, const v1::JobRecord& record, double unix_now);
void Submit(Turn& turn, const v1::JobRecord& record);
// `discard` says that even a final state that is not saved yet is given up.
void Cancel(Turn& turn, const std::string& uid, bool discard);
void Pause(Turn& turn, const std::string& uid);
void Resume(Turn& turn, const ResumeJob& verb);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_VERBS_H_
