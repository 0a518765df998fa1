// Models how long ordered machines run without word from the coordinator. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_NODES_LONE_MACHINES_H_
#define REKINDLE_TESTS_SIMULATION_NODES_LONE_MACHINES_H_

#include <functional>
#include <string>
#include <utility>

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A LoneMachines decides with the real worker/agent/decisions/alone.h when a machine ends itself.
class LoneMachines {
 public:
  // `end` ends the machine with that name.
  LoneMachines(World& world, const Coordinator& coordinator, std::function<void(const std::string&)> end)
      : world_(world), coordinator_(coordinator), end_(std::move(end)) {}

  // Notes that the coordinator has answered what the node's agent sent at `sent` by its clock. The answer says for how
  // many seconds the machine may be alone and its jobs may spend.
  void Heard(SimNode& node, double sent, double alone_seconds, double spend_seconds);
  // Ends an ordered machine whose time without a coordinator is over. As long as a coordinator answers, the coordinator
  // decides instead.
  void ConsiderEnd(SimNode& node);

 private:
  World& world_;
  const Coordinator& coordinator_;
  const std::function<void(const std::string&)> end_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_NODES_LONE_MACHINES_H_
