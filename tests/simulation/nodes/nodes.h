// Puts the parts of this room together. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_NODES_NODES_H_
#define REKINDLE_TESTS_SIMULATION_NODES_NODES_H_

#include <string>

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/exchange/sim_exchange.h"
#include "tests/simulation/nodes/agents.h"
#include "tests/simulation/nodes/gpu_health.h"
#include "tests/simulation/nodes/lone_machines.h"
#include "tests/simulation/nodes/sim_machines.h"
#include "tests/simulation/nodes/sim_pools.h"
#include "tests/simulation/nodes/sim_supervisor.h"
#include "tests/simulation/nodes/strangers.h"
#include "tests/simulation/trainers/trainers.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Owns what moves machines, their agents and the providers.
struct Nodes {
  Nodes(World& world, Coordinator& coordinator, Trainers& trainers, Exchange& exchange)
      : supervisor(world, trainers.voice, trainers.start, exchange.aborting,
                   [this](SimNode& node, int slot, int code) { agents.NoteEnd(node, slot, code); }),
        gpu_health(world,
                   [this](SimNode& node) {
                     agents.Report(node);
                     agents.Act(node);
                   }),
        lone_machines(world, coordinator, [this](const std::string& name) { machines.End(name); }),
        agents(world, coordinator, supervisor, gpu_health, lone_machines,
               [this](const std::string& name) { machines.LeaveDrained(name); }),
        machines(world, coordinator, supervisor, agents),
        strangers(world, coordinator, supervisor),
        pools(world, coordinator, machines) {}
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  Supervisor supervisor;
  GpuHealth gpu_health;
  LoneMachines lone_machines;
  Agents agents;
  Machines machines;
  Strangers strangers;
  Pools pools;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_NODES_NODES_H_
