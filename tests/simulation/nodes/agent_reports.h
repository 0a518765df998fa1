// Makes the reports of agents to the coordinator. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_NODES_AGENT_REPORTS_H_
#define REKINDLE_TESTS_SIMULATION_NODES_AGENT_REPORTS_H_

#include "rekindle/v1/node.pb.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Describes the node's machine. A machine that was killed comes back with another boot id.
v1::Machine MachineOf(const SimNode& node);

// Returns what the node's agent reports now.
v1::NodeReport ReportOf(const World& world, const SimNode& node);

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_NODES_AGENT_REPORTS_H_
