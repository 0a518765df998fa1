// Says what a trainer can see of the store of its job. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_TRAINERS_STORE_VIEW_H_
#define REKINDLE_TESTS_SIMULATION_TRAINERS_STORE_VIEW_H_

#include <string>
#include <vector>

#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Returns whether the store does not answer the node of the process.
bool IsAway(const World& world, const Process& process);

// Returns whether the process can read and write the store.
bool CanRead(const World& world, const Process& process);

// Returns whether the process can read the checkpoint and the checkpoint is not damaged.
bool CanRestore(const World& world, const Process& process, const std::string& manifest);

// Returns what the node of the process finds where the store should be.
std::vector<SavedCheckpoint> FoundBy(const World& world, const Process& process);

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_TRAINERS_STORE_VIEW_H_
