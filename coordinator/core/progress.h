// Takes a trainer's report: who may speak, what it says about the run, and what that means for the status.
#ifndef REKINDLE_COORDINATOR_CORE_PROGRESS_H_
#define REKINDLE_COORDINATOR_CORE_PROGRESS_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// Records the report of a known job. False: refused, stale or malformed, nothing changed but the refusal.
bool AcceptReport(Turn& turn, Job& job, const v1::TrainerReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PROGRESS_H_
