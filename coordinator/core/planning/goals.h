// Computes a job's goals as its planner sees them: the deadline, the off-peak hours, spot or on-demand capacity, and
// the work that is left. Refuses goals that no plan could reach.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_GOALS_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_GOALS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Refuses, when a job is submitted, goals that no plan could reach. The check uses the simulator's own logic on what
// the fleet file says. Returns INVALID_ARGUMENT or FAILED_PRECONDITION, with what to do.
absl::Status CheckGoals(const State& state, const v1::JobSpec& spec, double unix_now);

// Returns whether the job must wait for its off-peak hours. It need not where it would miss its deadline. `why` says
// until when it waits, and `look_at` is when that may change, on the clock of `turn.now`.
bool WaitsForHours(const Turn& turn, const Job& job, std::string* why, double* look_at);

// Returns whether the mere passing of time may change the job's plan, because of a deadline or cleaner hours, for
// example.
bool IsTimely(const Job& job);

// Sets in `demand` which nodes the job takes, and how many may be bought for it. REQUIRES: `min` and `max` of the
// demand are set.
void SetCapacity(const State& state, const Job& job, scheduler::Demand* demand);
scheduler::Policy PolicyOf(const State& state, const Job& job);

double HoursSinceSubmit(const Turn& turn, const Job& job);

// Updates `job.wishes.view`, which is what the job's planner sees: the work that is left, the deadline, how long starts
// take, and the job's units. The view names a pool by its index in `pools`.
void UpdateView(Turn& turn, Job& job, const std::vector<std::string>& pools);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_GOALS_H_
