// What a job is to reach, as its planner sees it.
#ifndef REKINDLE_COORDINATOR_CORE_GOALS_H_
#define REKINDLE_COORDINATOR_CORE_GOALS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/core/state.h"

namespace rekindle::core {

// INVALID_ARGUMENT or FAILED_PRECONDITION: what no plan could reach, with what to do. `status` of the job is not looked
// at.
absl::Status CheckGoals(const State& state, const v1::JobSpec& spec, double unix_now);

// Must the job wait for its hours? Not where its deadline would be missed. `why`: until when. `look_at`, in `turn.now`:
// when that may change.
bool WaitsForHours(const Turn& turn, const Job& job, std::string* why, double* look_at);

// Does a clock decide anything for it: a deadline, cleaner hours?
bool IsTimely(const Job& job);

// Which nodes it takes, and how many may be bought. REQUIRES: min and max are set.
void SetCapacity(const State& state, const Job& job, scheduler::Demand* demand);
scheduler::Policy PolicyOf(const State& state, const Job& job);

double HoursSinceSubmit(const Turn& turn, const Job& job);

// Brings `job.view` up to now: work left, deadline, units in pools named by `pools`, starts.
void UpdateView(Turn& turn, Job& job, const std::vector<std::string>& pools);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GOALS_H_
