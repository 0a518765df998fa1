// Models the start and the end of trainer processes. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_NODES_SIM_SUPERVISOR_H_
#define REKINDLE_TESTS_SIMULATION_NODES_SIM_SUPERVISOR_H_

#include <functional>
#include <utility>

#include "tests/simulation/exchange/aborting.h"
#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/trainers/trainer_start.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A Supervisor makes the processes of the world and ends them, whoever wants that. It tells the world's observers of
// both.
class Supervisor {
 public:
  // `ended` tells the node's agent that the trainer in the slot has ended. It is not called where the agent is away.
  using Ended = std::function<void(SimNode& node, int slot, int code)>;
  Supervisor(World& world, Voice& voice, TrainerStart& trainer_start, Aborting& aborting, Ended ended)
      : world_(world), voice_(voice), trainer_start_(trainer_start), aborting_(aborting), ended_(std::move(ended)) {}

  void Start(SimNode& node, int slot, SimJob& job);
  // Ends a trainer process. If `silent` is set, no socket is closed, as when a machine loses its power.
  void Stop(Process& process, int code, bool silent);

 private:
  Process ProcessOf(const SimNode& node, int slot, SimJob& job);

  World& world_;
  Voice& voice_;
  TrainerStart& trainer_start_;
  Aborting& aborting_;
  const Ended ended_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_NODES_SIM_SUPERVISOR_H_
