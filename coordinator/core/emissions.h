// What nodes emit: for the planner, in the account of a job, and in words where it is not known.
#ifndef REKINDLE_COORDINATOR_CORE_EMISSIONS_H_
#define REKINDLE_COORDINATOR_CORE_EMISSIONS_H_

#include <string>
#include <vector>

#include "coordinator/core/state.h"
#include "coordinator/scheduler/cycle.h"

namespace rekindle::core {

// What one of the job's nodes draws, where its pool does not say.
double NodeWatts(const Job& job);

// Of a slot in each of these pools. What is not known counts as a little dirtier than the dirtiest that is.
std::vector<scheduler::Emission> EmissionsOf(const Turn& turn, const std::vector<std::string>& pools, double watts);

// Tells of each carbon region of a pool when it is not known any more, or is again. Returns when that may change by
// itself.
double WatchCarbon(Turn& turn);
// Tells, once, of a job that is to be green and cannot: nothing is known.
void TellIfBlind(Turn& turn, Job& job);

// Adds what nodes of that pool emit between two times to its line of a job's account.
void AddEmissions(const CarbonBook& book, const PoolPrices& pool, double nodes, double watts, double from, double until,
                  v1::PoolCost* line);
// The sums of a job's lines.
void SumEmissions(v1::Cost* cost);
// Of a job that waits for hours: what they are held against, the means since its submit.
void TakeMeans(const State& state, const Job& job, double now, v1::Cost* cost);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_EMISSIONS_H_
