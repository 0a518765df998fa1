// Admits jobs to the state, at the start of a coordinator or because their trainers were found.
#ifndef REKINDLE_COORDINATOR_CORE_REPORTS_JOB_ADMISSION_H_
#define REKINDLE_COORDINATOR_CORE_REPORTS_JOB_ADMISSION_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns whether a job that is not over has this name.
bool IsNameTaken(const State& state, const std::string& name);

// Adds a job with this record to the state, and changes nothing else. REQUIRES: no job has its uid.
Job& AddJob(State& state, const v1::JobRecord& record);

// Adds a job whose trainers live, and of which there was no record (found.h).
Job& AddFound(Turn& turn, const v1::JobRecord& record);

// Adds a job from its record after a start of the coordinator.
void Adopt(Turn& turn, const v1::JobRecord& record);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_REPORTS_JOB_ADMISSION_H_
