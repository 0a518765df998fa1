// Watches the machines of pools that take orders, from when they run. Checks whether the machines' nodes register in
// time. Counts what a machine without a registered node costs, because nothing else counts it.
#ifndef REKINDLE_COORDINATOR_CORE_MACHINES_REGISTERING_H_
#define REKINDLE_COORDINATOR_CORE_MACHINES_REGISTERING_H_

#include <string>
#include <vector>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Restores a pool from its record after a start of the coordinator. The nodes of the pool's machines may be on their
// way back, and have a while to register.
void AdoptPool(Turn& turn, const v1::PoolRecord& record);
// Returns the pool's record as it is to be saved.
v1::PoolRecord RecordOf(const PoolState& pool);

// Records which machines of the pool run, as the pool's provider says. Begins to watch new machines, and ends the watch
// on those that are gone. REQUIRES: `report.listed`.
void TakeMachines(Turn& turn, PoolState& pool, const PoolReported& report);

struct Watched {
  double wake_at = kNever;
  // `avoid_because` says that too many machines in a row never registered. It is empty where the pool need not be
  // avoided.
  std::string avoid_because;
};
// Counts, once each, the machines whose nodes are overdue to register, and what each of them has cost since it began to
// run.
Watched WatchMachines(Turn& turn, const std::string& name, PoolState& pool);

// Returns how many seconds a running machine of the pool has until its node is overdue to register.
double RegistersWithin(const State& state, const std::string& pool);
// Returns how many machines of the pool run whose nodes have not registered and may still do so.
int CountAwaited(const State& state, const PoolState& pool);
// Returns the nodes that are overdue to register, so that their machines have to end.
std::vector<std::string> Overdue(const PoolState& pool);
// Returns the nodes of the pool's machines that have not registered and are not overdue.
std::vector<std::string> Unregistered(const State& state, const PoolState& pool);

// Moves the times of the pool's machines by `step` seconds, because the coordinator's clock was set by as many seconds.
void FollowClock(const Turn& turn, double step, PoolState& pool);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MACHINES_REGISTERING_H_
