// Says what a job has to reach, as its planner sees it.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_GOALS_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_GOALS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns INVALID_ARGUMENT or FAILED_PRECONDITION, with what to do, for goals that no plan could reach. The job's
// `status` is not looked at.
absl::Status CheckGoals(const State& state, const v1::JobSpec& spec, double unix_now);

// Returns whether the job must wait for its hours. It need not where it would miss its deadline. `why` says until when
// it waits, and `look_at` is when that may change, on the clock of `turn.now`.
bool WaitsForHours(const Turn& turn, const Job& job, std::string* why, double* look_at);

// Returns whether a clock decides anything for the job, such as a deadline or cleaner hours.
bool IsTimely(const Job& job);

// Sets which nodes the job takes, and how many may be bought. REQUIRES: min and max are set.
void SetCapacity(const State& state, const Job& job, scheduler::Demand* demand);
scheduler::Policy PolicyOf(const State& state, const Job& job);

double HoursSinceSubmit(const Turn& turn, const Job& job);

// Brings `job.wishes.view` up to now: the work left, the deadline, the units in pools named by `pools`, and the starts.
void UpdateView(Turn& turn, Job& job, const std::vector<std::string>& pools);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_GOALS_H_
