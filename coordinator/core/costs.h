// What a job costs: the nodes it holds, node-second by node-second, from when a slot is given to it until it is taken
// away. Counted in Unix time, which is the core's clock and an offset: within one process it never goes back.
#ifndef REKINDLE_COORDINATOR_CORE_COSTS_H_
#define REKINDLE_COORDINATOR_CORE_COSTS_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

double UnixNow(const Turn& turn);

// In the job's status.
v1::Cost* CostOf(Job& job);

// Adds what these nodes cost and emit between two times. `watts`: what a node draws where its pool does not say.
void AddCost(const State& state, const Shares& shares, double watts, double from, double until, v1::Cost* cost);

// What these nodes cost an hour.
double RateOf(const PriceBook& book, const Shares& shares, double unix_now);

// Brings the job's costs up to now, with its rate and forecast.
void CountCosts(Turn& turn, Job& job);
// What the status shows of the present: rate and forecast.
void ShowCosts(Turn& turn, Job& job);

// After a loss of members: what a restart from the newest checkpoint would have redone.
void CountRework(Job& job);

// The least that `workers` cost for a minute on the cheapest pool.
double LeastMinute(const State& state, int workers, double unix_now, std::string* pool);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_COSTS_H_
