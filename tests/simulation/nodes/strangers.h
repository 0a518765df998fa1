// Models nodes with other data or with another processor. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_NODES_STRANGERS_H_
#define REKINDLE_TESTS_SIMULATION_NODES_STRANGERS_H_

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/nodes/sim_supervisor.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A Strangers makes nodes read other data or compute differently, and mends them.
class Strangers {
 public:
  Strangers(World& world, const Coordinator& coordinator, Supervisor& supervisor)
      : world_(world), coordinator_(coordinator), supervisor_(supervisor) {}

  // Makes the trainers that start on the node from now on read other data or compute differently.
  void Change(SimNode& node);
  bool AnyIsThere() const;
  // Gives all nodes the right data and arithmetic again, as their operators would.
  void MendAll();

 private:
  World& world_;
  const Coordinator& coordinator_;
  Supervisor& supervisor_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_NODES_STRANGERS_H_
