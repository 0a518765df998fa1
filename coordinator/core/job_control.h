// A job's life: the user's verbs, and the one look at everything after each event.
#ifndef REKINDLE_COORDINATOR_CORE_JOB_CONTROL_H_
#define REKINDLE_COORDINATOR_CORE_JOB_CONTROL_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/core/state.h"

namespace rekindle::core {

// Has a job that name which is not over?
bool IsNameTaken(const State& state, const std::string& name);

// What Submit would refuse that record with, for that reason.
absl::Status CheckSubmit(const State& state, SubmitCheck what, const v1::JobRecord& record, double unix_now);
void Submit(Turn& turn, const v1::JobRecord& record);
void Cancel(Turn& turn, const std::string& uid, bool discard);
void Pause(Turn& turn, const std::string& uid);
void Resume(Turn& turn, const ResumeJob& verb);
// A job that lives, and of which there was no record; found.h.
Job& AddFound(Turn& turn, const v1::JobRecord& record);
// After a coordinator start.
void Adopt(Turn& turn, const v1::JobRecord& record);

// Looks at the whole job and decides whatever is due. Idempotent.
void Advance(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_JOB_CONTROL_H_
