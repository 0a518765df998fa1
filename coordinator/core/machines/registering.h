// Watches machines of pools that take orders, from when they run. It checks whether their nodes register in time, and
// counts what those cost that do not. They are nobody's nodes, so nothing else counts them.
#ifndef REKINDLE_COORDINATOR_CORE_MACHINES_REGISTERING_H_
#define REKINDLE_COORDINATOR_CORE_MACHINES_REGISTERING_H_

#include <string>
#include <vector>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Takes a pool over from a store. Nodes of its machines may be on their way back, and have a while for it.
void AdoptPool(Turn& turn, const v1::PoolRecord& record);
// Returns the pool's record as it is to be saved.
v1::PoolRecord RecordOf(const PoolState& pool);

// Takes what the pool's provider says runs. It begins to watch new machines, and ends the count of those that are gone.
// REQUIRES: `report.listed`.
void TakeMachines(Turn& turn, PoolState& pool, const PoolReported& report);

struct Watched {
  double wake_at = kNever;
  // Says that too many machines in a row never registered. It is empty where the pool need not be avoided.
  std::string avoid_because;
};
// Counts machines whose nodes are overdue, each of them once, from the first moment that they ran.
Watched WatchMachines(Turn& turn, const std::string& name, PoolState& pool);

// Returns how many seconds a machine has from when it is to run until its node is overdue.
double RegistersWithin(const State& state, const std::string& pool);
// Returns how many machines run whose nodes may still register.
int CountAwaited(const State& state, const PoolState& pool);
// Returns the nodes whose machines have to end.
std::vector<std::string> Overdue(const PoolState& pool);
// Returns the nodes that have not registered and are not overdue.
std::vector<std::string> Unregistered(const State& state, const PoolState& pool);

// Moves the times of the pool's machines by `step` seconds, because the clock was set by so much.
void FollowClock(const Turn& turn, double step, PoolState& pool);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MACHINES_REGISTERING_H_
