// Models how a generation ends in order, following worker/train/save/blocking_save.cc. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_EXCHANGE_SIM_LEAVING_H_
#define REKINDLE_TESTS_SIMULATION_EXCHANGE_SIM_LEAVING_H_

#include "tests/simulation/exchange/aborting.h"
#include "tests/simulation/trainers/saving.h"
#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/world/sim_world.h"
#include "worker/train/control/control_plane.h"

namespace rekindle::core::simulation {

// A Leaving lets a process leave its generation at a step boundary, for another generation or because the job is over.
class Leaving {
 public:
  Leaving(World& world, Voice& voice, Saving& saving, Aborting& aborting)
      : world_(world), voice_(voice), saving_(saving), aborting_(aborting) {}

  // Saves the last checkpoint of the generation. No rank leaves before rank 0 has written it or given up.
  void SaveAndStop(Process& process, int generation, train::Phase phase);
  void Stop(Process& process, train::Phase phase);

 private:
  World& world_;
  Voice& voice_;
  Saving& saving_;
  Aborting& aborting_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_EXCHANGE_SIM_LEAVING_H_
