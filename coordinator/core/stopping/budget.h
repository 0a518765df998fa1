// Keeps a job's budget: alerts the user as it is spent, and pauses the job before it is crossed.
#ifndef REKINDLE_COORDINATOR_CORE_STOPPING_BUDGET_H_
#define REKINDLE_COORDINATOR_CORE_STOPPING_BUDGET_H_

#include "absl/status/status.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns INVALID_ARGUMENT where the spec has a budget and no price is known, or where the budget does not cover even a
// minute.
absl::Status CheckBudget(const State& state, const v1::JobSpec& spec, double unix_now);

// Sets a new budget for a job. Returns INVALID_ARGUMENT for the same reasons as CheckBudget, or where that much is
// spent already.
absl::Status SetBudget(Turn& turn, Job& job, double budget);
// Returns FAILED_PRECONDITION where a budget has paused the job and still has no room for it.
absl::Status CheckResume(const Turn& turn, const Job& job);

// Alerts the job's user, pauses the job or releases its nodes as its budget demands. REQUIRES: costs are counted up to
// now.
void KeepBudget(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STOPPING_BUDGET_H_
