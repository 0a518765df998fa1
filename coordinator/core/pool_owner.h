// Whose machines run in a pool that takes orders? Another cluster may have the same fleet file: what this one has not
// ordered it leaves alone, until a node of the pool registers here, or nothing runs there any more.
#ifndef REKINDLE_COORDINATOR_CORE_POOL_OWNER_H_
#define REKINDLE_COORDINATOR_CORE_POOL_OWNER_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// Has this cluster ordered what runs in that pool, or does a node of it serve this cluster?
bool IsOurs(const State& state, const std::string& name, const PoolState& pool);

// From now on, and over a restart: it has ordered there.
void SetOurs(PoolState& pool);

// What its provider says. REQUIRES: it is listed.
void TakeOwner(Turn& turn, const std::string& name, PoolState& pool, const PoolReported& report);

// Tells of one that is left alone, after nodes had a while to register. When to look again.
double WatchOwner(Turn& turn, const std::string& name, PoolState& pool);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_POOL_OWNER_H_
