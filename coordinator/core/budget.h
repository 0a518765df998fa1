// Keeps a job's budget: alerts as it is spent, and the pause before it is crossed.
#ifndef REKINDLE_COORDINATOR_CORE_BUDGET_H_
#define REKINDLE_COORDINATOR_CORE_BUDGET_H_

#include "absl/status/status.h"
#include "coordinator/core/state.h"

namespace rekindle::core {

// INVALID_ARGUMENT: nobody knows a price, or not even a minute fits.
absl::Status CheckBudget(const State& state, const v1::JobSpec& spec, double unix_now);

// A new limit for a job. INVALID_ARGUMENT: as above, or it is spent already.
absl::Status SetBudget(Turn& turn, Job& job, double budget);
// FAILED_PRECONDITION while the budget that paused it has no room.
absl::Status CheckResume(const Turn& turn, const Job& job);

// REQUIRES: costs are counted up to now.
void KeepBudget(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_BUDGET_H_
