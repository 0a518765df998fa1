// What machines cost that never became nodes: of their pool, and of the jobs for which it ordered them.
#ifndef REKINDLE_COORDINATOR_CORE_MACHINE_COSTS_H_
#define REKINDLE_COORDINATOR_CORE_MACHINE_COSTS_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// Whom a machine of that pool is for that has just come: the jobs that wait for its nodes, each by how many.
void SetParts(const State& state, const std::string& pool, v1::PoolRecord::Machine* machine);

// Adds what it has cost since `counted_until`, and so many machines. The sums of pool and jobs are saved with that time
// in one step, so that a restart neither loses it nor counts it again.
void CountMachine(Turn& turn, PoolState& pool, double machines, v1::PoolRecord::Machine& machine);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MACHINE_COSTS_H_
