// Decides whose machines run in a pool that takes orders. Another cluster may have the same fleet file. So this cluster
// leaves alone what it has not ordered, until a node of the pool registers here, or nothing runs there any more.
#ifndef REKINDLE_COORDINATOR_CORE_MACHINES_POOL_OWNER_H_
#define REKINDLE_COORDINATOR_CORE_MACHINES_POOL_OWNER_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns whether the machines in the pool are this cluster's: it has ordered them, or a node of the pool has
// registered with it.
bool IsOurs(const State& state, const std::string& name, const PoolState& pool);

// Records that this cluster has ordered the machines of the pool. The record survives a restart.
void SetOurs(const Turn& turn, PoolState& pool);

// Records what the pool's provider says about whose machines run in the pool. REQUIRES: `report.listed`.
void TakeOwner(Turn& turn, const std::string& name, PoolState& pool, const PoolReported& report);

// Emits an event for a pool that is left alone because its machines are not this cluster's, once nodes had a while to
// register. Returns the time at which WatchOwner has to be called again.
double WatchOwner(Turn& turn, const std::string& name, PoolState& pool);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MACHINES_POOL_OWNER_H_
