// Computes what nodes emit, for the planner and for the account of a job, and says in events where that is not known.
#ifndef REKINDLE_COORDINATOR_CORE_ACCOUNT_EMISSIONS_H_
#define REKINDLE_COORDINATOR_CORE_ACCOUNT_EMISSIONS_H_

#include <string>
#include <vector>

#include "coordinator/core/state/core_state.h"
#include "coordinator/scheduler/cycle.h"

namespace rekindle::core {

// Returns the watts that one of the job's nodes draws where its pool does not say.
double NodeWatts(const Job& job);

// Returns what a slot emits in each of these pools. An unknown pool counts as a little dirtier than the dirtiest known
// one.
std::vector<scheduler::Emission> EmissionsOf(const Turn& turn, const std::vector<std::string>& pools, double watts);

// Emits an event for each carbon region of a pool that is not known any more, or is known again. Returns when that may
// change by itself.
double WatchCarbon(Turn& turn);
// Emits an event, once, for a job that wants to be green and cannot, because no emission is known.
void TellIfBlind(Turn& turn, Job& job);

// Adds what nodes of that pool emit between two Unix times to the pool's line in a job's account.
void AddEmissions(const CarbonBook& book, const PoolPrices& pool, double nodes, double watts, double from, double until,
                  v1::PoolCost* line);
// Sets the totals of a job's account to the sums of its lines.
void SumEmissions(v1::Cost* cost);
// Updates the mean price and mean intensity since the job's submit. A job that waits for better hours compares hours
// with them.
void TakeMeans(const State& state, const Job& job, double now, v1::Cost* cost);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ACCOUNT_EMISSIONS_H_
