// Takes a trainer's report: decides who may speak, what the report says about the run, and what that means for the
// status.
#ifndef REKINDLE_COORDINATOR_CORE_REPORTS_TRAINER_REPORTS_H_
#define REKINDLE_COORDINATOR_CORE_REPORTS_TRAINER_REPORTS_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Records the report of a known job. Returns false where it was refused, stale or malformed. Then nothing has changed
// but the refusal.
bool AcceptReport(Turn& turn, Job& job, const v1::TrainerReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_REPORTS_TRAINER_REPORTS_H_
