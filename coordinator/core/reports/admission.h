// Admits jobs to the state, at the start of a coordinator or because their trainers were found.
#ifndef REKINDLE_COORDINATOR_CORE_REPORTS_ADMISSION_H_
#define REKINDLE_COORDINATOR_CORE_REPORTS_ADMISSION_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns whether a job that is not over has that name.
bool IsNameTaken(const State& state, const std::string& name);

// Adds a job with that record, and nothing else that follows from it. REQUIRES: no job has its uid.
Job& AddJob(State& state, const v1::JobRecord& record);

// Adds a job that lives, and of which there was no record (found.h).
Job& AddFound(Turn& turn, const v1::JobRecord& record);

// Adds a job from its record after a start of the coordinator.
void Adopt(Turn& turn, const v1::JobRecord& record);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_REPORTS_ADMISSION_H_
