// Models how checkpoints are written, following worker/train/save/saver.cc. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_TRAINERS_SAVING_H_
#define REKINDLE_TESTS_SIMULATION_TRAINERS_SAVING_H_

#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A Saving lets a process write checkpoints to the store of its job and report how that went.
class Saving {
 public:
  Saving(World& world, Voice& voice) : world_(world), voice_(voice) {}

  // Begins to write a checkpoint, while the process goes on.
  void Begin(Process& process, int generation, int step);
  // Ends the writing of a checkpoint, which may fail.
  void Commit(Process& process, int generation, int step);

 private:
  World& world_;
  Voice& voice_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_TRAINERS_SAVING_H_
