// Models the agents of nodes. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_NODES_AGENTS_H_
#define REKINDLE_TESTS_SIMULATION_NODES_AGENTS_H_

#include <functional>
#include <string>
#include <utility>

#include "rekindle/v1/node.pb.h"
#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/nodes/gpu_health.h"
#include "tests/simulation/nodes/lone_machines.h"
#include "tests/simulation/nodes/sim_supervisor.h"
#include "tests/simulation/world/sim_world.h"
#include "worker/agent/decisions/slot_plan.h"

namespace rekindle::core::simulation {

// An Agents moves the agents of all nodes: they report, obey, and act on what runs. Each decides with the real
// worker/agent/decisions/slot_plan.h, and the Supervisor carries the decisions out.
class Agents {
 public:
  // `drained` is called with the name of a node whose agent has left because the node is drained.
  Agents(World& world, Coordinator& coordinator, Supervisor& supervisor, GpuHealth& gpu_health,
         LoneMachines& lone_machines, std::function<void(const std::string&)> drained)
      : world_(world),
        coordinator_(coordinator),
        supervisor_(supervisor),
        gpu_health_(gpu_health),
        lone_machines_(lone_machines),
        drained_(std::move(drained)) {}

  // Lets the agent of the incarnation report again and again.
  void Loop(const std::string& name, int incarnation);
  void Report(SimNode& node);
  // Carries out what the node's agent decides, and does so again at the time that the agent asks for.
  void Act(SimNode& node);
  // Restarts the agent: it finds out what runs on its node, but has forgotten what the coordinator wanted there.
  void Adopt(SimNode& node);
  // Tells the agent that the trainer in the slot has ended.
  void NoteEnd(SimNode& node, int slot, int code);

 private:
  // Answers the report as the coordinator does. The agent has sent it at `sent` by its clock, as its `request`.
  void SendAnswer(const v1::NodeReport& report, int request, int incarnation, double sent);
  void Obey(SimNode& node, const v1::NodeDirective& directive);
  void NoteAcknowledged(SimNode& node, const v1::NodeDirective& directive);
  void Carry(SimNode& node, const agent::Action& action);

  World& world_;
  Coordinator& coordinator_;
  Supervisor& supervisor_;
  GpuHealth& gpu_health_;
  LoneMachines& lone_machines_;
  const std::function<void(const std::string&)> drained_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_NODES_AGENTS_H_
