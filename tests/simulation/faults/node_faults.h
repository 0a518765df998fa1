// Breaks nodes and what they are connected by. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_FAULTS_NODE_FAULTS_H_
#define REKINDLE_TESTS_SIMULATION_FAULTS_NODE_FAULTS_H_

#include <string>

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/nodes/sim_machines.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A NodeFaults lets agents die, lets nodes leave, and cuts them off. Whatever leaves comes back later.
class NodeFaults {
 public:
  NodeFaults(World& world, Coordinator& coordinator, Machines& machines)
      : world_(world), coordinator_(coordinator), machines_(machines) {}

  void KillAgent(SimNode& node);
  // Lets the node's provider say that the node has to leave.
  void GiveNotice(SimNode& node);
  // Lets an operator drain the node. The coordinator must be up.
  void Drain(const std::string& name);
  // Cuts the data connection between the node and a random other one for a while.
  void CutData(const std::string& name);
  // Cuts some nodes off from the coordinator for a while, although they hear each other. Often these are just the nodes
  // that train.
  void StopHearing();

 private:
  // Takes back the notice of a node that has not left yet.
  void Withdraw(const std::string& name);
  void Undrain(const std::string& name);

  World& world_;
  Coordinator& coordinator_;
  Machines& machines_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_FAULTS_NODE_FAULTS_H_
