// Computes what nodes emit, for the planner and for the account of a job, and tells in events where emissions are not
// known.
#ifndef REKINDLE_COORDINATOR_CORE_ACCOUNT_EMISSIONS_H_
#define REKINDLE_COORDINATOR_CORE_ACCOUNT_EMISSIONS_H_

#include <string>
#include <vector>

#include "coordinator/core/state/core_state.h"
#include "coordinator/scheduler/cycle.h"

namespace rekindle::core {

// Returns the watts that one of the job's nodes draws where its pool does not state a power.
double NodeWatts(const Job& job);

// Returns what a slot emits in each of `pools`. A pool whose emissions are not known counts as a little dirtier than
// the dirtiest of the other pools.
std::vector<scheduler::Emission> EmissionsOf(const Turn& turn, const std::vector<std::string>& pools, double watts);

// Emits an event for each carbon region of a pool whose intensity is not known any more, or is known again. Returns the
// time at which a known intensity becomes too old to count, if nothing newer is heard.
double WatchCarbon(Turn& turn);
// Emits an event, once, for a job with the objective `greenest` that cannot prefer low emissions, because no emissions
// of the pools are known.
void TellIfBlind(Turn& turn, Job& job);

// Adds what `nodes` nodes of a pool emit between two Unix times to the pool's line in a job's account.
void AddEmissions(const CarbonBook& book, const PoolPrices& pool, double nodes, double watts, double from, double until,
                  v1::PoolCost* line);
// Sets the totals of a job's account to the sums of its lines.
void SumEmissions(v1::Cost* cost);
// Updates the mean price and mean intensity since the job was submitted. A job that waits for cheaper or cleaner hours
// compares the hours with these means.
void TakeMeans(const State& state, const Job& job, double now, v1::Cost* cost);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ACCOUNT_EMISSIONS_H_
