// Counts what machines cost that never became nodes, for their pool and for the jobs that it ordered them for.
#ifndef REKINDLE_COORDINATOR_CORE_ACCOUNT_MACHINE_COSTS_H_
#define REKINDLE_COORDINATOR_CORE_ACCOUNT_MACHINE_COSTS_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Divides the costs of a machine that has just come to `pool` among the jobs that wait for the pool's nodes. Each job
// gets a part in proportion to the nodes that it waits for.
void SetParts(const State& state, const std::string& pool, v1::PoolRecord::Machine* machine);

// Adds what the machine has cost since its `counted_until` to the sums of the pool and of the jobs that the machine was
// ordered for, and adds `machines` to the number of machines in these sums. The sums are saved together with
// `counted_until`. So a restart neither loses a cost nor counts it again.
void CountMachine(Turn& turn, PoolState& pool, double machines, v1::PoolRecord::Machine& machine);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ACCOUNT_MACHINE_COSTS_H_
