// Counts what a job costs. Each node is charged by the second, from when a slot is given to the job until it is taken
// away. Times are Unix time, which is the core's clock plus an offset, so within one process it never goes back.
#ifndef REKINDLE_COORDINATOR_CORE_ACCOUNT_COSTS_H_
#define REKINDLE_COORDINATOR_CORE_ACCOUNT_COSTS_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns the costs in the job's status.
v1::Cost* CostOf(Job& job);

// Adds to `cost` what the nodes in `shares` cost and emit between two Unix times. A node draws `watts` where its pool
// does not state a power.
void AddCost(const State& state, const Shares& shares, double watts, double from, double until, v1::Cost* cost);

// Returns what the nodes in `shares` cost an hour.
double RateOf(const PriceBook& book, const Shares& shares, double unix_now);

// Brings the costs in the job's status up to date, with their rate and their forecast.
void CountCosts(Turn& turn, Job& job);
// Updates the present cost rate and the forecast in the job's status.
void ShowCosts(Turn& turn, Job& job);

// Counts the work that a restart from the newest checkpoint would have redone. The caller must call this after a loss
// of members.
void CountRework(Job& job);

// Returns the lowest cost of `workers` for a minute, on the cheapest pool, and sets `*pool` to the name of that pool.
double LeastMinute(const State& state, int workers, double unix_now, std::string* pool);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ACCOUNT_COSTS_H_
