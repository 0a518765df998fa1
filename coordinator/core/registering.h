// Machines of pools that take orders, from when they run: whether their nodes register in time, and what those cost
// that do not. They are nobody's nodes, so nothing else counts them.
#ifndef REKINDLE_COORDINATOR_CORE_REGISTERING_H_
#define REKINDLE_COORDINATOR_CORE_REGISTERING_H_

#include <string>
#include <vector>

#include "coordinator/core/state.h"

namespace rekindle::core {

// From a store: nodes of its machines may be on their way back, and have a while for it.
void AdoptPool(Turn& turn, const v1::PoolRecord& record);
// As it is to be saved.
v1::PoolRecord RecordOf(const PoolState& pool);

// What its provider says runs: begins to watch what is new, and ends the count of what is gone. REQUIRES: it is listed.
void TakeMachines(Turn& turn, PoolState& pool, const PoolReported& report);

struct Watched {
  double wake_at = kNever;
  std::string avoid_because;  // So many never registered in a row; empty: they have not.
};
// Counts machines whose nodes are overdue, from the first moment that they ran, each once.
Watched WatchMachines(Turn& turn, const std::string& name, PoolState& pool);

// From when it is to run until its node is overdue, in seconds.
double RegistersWithin(const State& state, const std::string& pool);
// Machines that run and whose nodes may still register.
int CountAwaited(const State& state, const PoolState& pool);
// Nodes whose machines are to end.
std::vector<std::string> Overdue(const PoolState& pool);
// Those that have not registered, beside these.
std::vector<std::string> Unregistered(const State& state, const PoolState& pool);

// The machine's clock was set by so many seconds: the times of the pool's machines move with it.
void FollowClock(double step, PoolState& pool);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_REGISTERING_H_
