// Counts what machines cost that never became nodes, for their pool and for the jobs that it ordered them for.
#ifndef REKINDLE_COORDINATOR_CORE_ACCOUNT_MACHINE_COSTS_H_
#define REKINDLE_COORDINATOR_CORE_ACCOUNT_MACHINE_COSTS_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Divides the costs of a machine that has just come to `pool` among the jobs that wait for the pool's nodes. Each job
// gets a part in proportion to the nodes that it waits for.
void SetParts(const State& state, const std::string& pool, v1::PoolRecord::Machine* machine);

// Adds what the machine has cost since `counted_until`, and `machines` to the number of machines. The sums of the pool
// and the jobs are saved together with `counted_until`. So a restart neither loses a cost nor counts it again.
void CountMachine(Turn& turn, PoolState& pool, double machines, v1::PoolRecord::Machine& machine);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ACCOUNT_MACHINE_COSTS_H_
