// Handles a trainer's report: decides whether its sender may speak, what it says about the run, and what that means for
// the job's status.
#ifndef REKINDLE_COORDINATOR_CORE_REPORTS_TRAINER_REPORTS_H_
#define REKINDLE_COORDINATOR_CORE_REPORTS_TRAINER_REPORTS_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Records a trainer's report of a known job. Returns false where the report was refused, or there is no room to
// remember its trainer. Then nothing has changed but what is noted of the refusal.
bool AcceptReport(Turn& turn, Job& job, const v1::TrainerReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_REPORTS_TRAINER_REPORTS_H_
