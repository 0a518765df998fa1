// Models machines that come and go. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_NODES_SIM_MACHINES_H_
#define REKINDLE_TESTS_SIMULATION_NODES_SIM_MACHINES_H_

#include <string>

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/nodes/agents.h"
#include "tests/simulation/nodes/sim_supervisor.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A Machines makes the nodes of the world, and lets them die, leave and return.
class Machines {
 public:
  Machines(World& world, Coordinator& coordinator, Supervisor& supervisor, Agents& agents)
      : world_(world), coordinator_(coordinator), supervisor_(supervisor), agents_(agents) {}

  // Adds a machine that nobody ordered.
  void Add();
  // Lets a new machine, whose values are `node`, start its agent.
  void Begin(SimNode node);
  void Kill(SimNode& node, bool silent);
  // Ends a machine for good, with all that runs on it. Nobody hears of it, and another machine comes in its place.
  void Vanish(SimNode& node);
  // Lets a node return. If it was killed, it comes back without its old processes. If only its agent had gone, the node
  // is as it was and has a new agent.
  void Return(const std::string& name);
  // Lets a node leave whose agent has left because the node is drained. Later it comes back, unless it was ordered.
  void LeaveDrained(const std::string& name);
  // Ends an ordered machine, which may not have registered yet.
  void End(const std::string& name);
  // Says again and again that machines are gone for good, as their operators know, until the coordinator knows it.
  void GiveUpGone();

 private:
  // Replaces a machine with another one. The old machine never comes back.
  void Replace(SimNode& node);
  // Gives the node a GPU and one of two versions of NCCL, or neither.
  void TakeGpu(SimNode& node);

  World& world_;
  Coordinator& coordinator_;
  Supervisor& supervisor_;
  Agents& agents_;
  // `named_` is the number of nodes so far that nobody ordered.
  int named_ = 0;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_NODES_SIM_MACHINES_H_
