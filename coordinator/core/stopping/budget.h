// Keeps a job's budget: alerts the user as it is spent, and pauses the job before it is crossed.
#ifndef REKINDLE_COORDINATOR_CORE_STOPPING_BUDGET_H_
#define REKINDLE_COORDINATOR_CORE_STOPPING_BUDGET_H_

#include "absl/status/status.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns INVALID_ARGUMENT where no price is known, or where the budget does not cover even a minute.
absl::Status CheckBudget(const State& state, const v1::JobSpec& spec, double unix_now);

// Sets a new limit for a job. Returns INVALID_ARGUMENT for the same reasons as CheckBudget, or where it is spent
// already.
absl::Status SetBudget(Turn& turn, Job& job, double budget);
// Returns FAILED_PRECONDITION while the budget that paused the job has no room.
absl::Status CheckResume(const Turn& turn, const Job& job);

// Alerts, pauses or releases the job as its budget demands. REQUIRES: costs are counted up to now.
void KeepBudget(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STOPPING_BUDGET_H_
