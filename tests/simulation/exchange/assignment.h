// Says which micro-batches a rank computes. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_EXCHANGE_ASSIGNMENT_H_
#define REKINDLE_TESTS_SIMULATION_EXCHANGE_ASSIGNMENT_H_

#include <set>

#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Returns the micro-batches of the step that the process has to compute in its generation. There are none once the job
// has made all its steps.
std::set<int> AssignedTo(const Process& process, int step);

// Sometimes changes the ranks' ranges of micro-batches from the step after `step` on. In the real trainer all ranks
// have the same measurements and therefore compute the same ranges. Here chance stands in for the measurements.
void MaybeRecut(World& world, const SimJob& job, Fabric& fabric, int step);

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_EXCHANGE_ASSIGNMENT_H_
