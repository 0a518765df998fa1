// Models how the ranks of a generation step together, following worker/train/engine/engine.cc. This file is for tests
// only.
#ifndef REKINDLE_TESTS_SIMULATION_EXCHANGE_STEPPING_H_
#define REKINDLE_TESTS_SIMULATION_EXCHANGE_STEPPING_H_

#include "tests/simulation/exchange/aborting.h"
#include "tests/simulation/exchange/nccl.h"
#include "tests/simulation/exchange/sim_leaving.h"
#include "tests/simulation/exchange/standing.h"
#include "tests/simulation/trainers/saving.h"
#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A Stepping takes a generation from one step to the next: each rank computes and contributes, all reduce, and each
// applies. It tells the world's observers of each step that is reduced and applied.
class Stepping {
 public:
  Stepping(World& world, Voice& voice, Saving& saving, Nccl& nccl, Aborting& aborting, Leaving& leaving,
           Standing& standing)
      : world_(world),
        voice_(voice),
        saving_(saving),
        nccl_(nccl),
        aborting_(aborting),
        leaving_(leaving),
        standing_(standing) {}

  // Lets the process compute its micro-batches of its step, and go on from there.
  void Compute(Process& process);

 private:
  void Contribute(Process& process);
  // Returns whether all members have contributed to the step and can reach each other.
  bool AllContribute(const Fabric& fabric, int generation, int step);
  // Ends the process's generation, because its step was not reduced in time.
  void GiveUpStep(Process& process, int generation, int step);
  void Reduce(SimJob& job, int generation, int step);
  void GoOn(SimJob& job, int generation, int step, Ending ending);
  // Lets the process prepare the step. It is applied when all ranks have prepared it and none has left since, as far as
  // each can tell.
  void Prepare(Process& process, int generation, int step, Ending ending);
  void Apply(Process& process, int generation, int step, Ending ending);
  void Applied(Process& process, int generation, int step, Ending ending);

  World& world_;
  Voice& voice_;
  Saving& saving_;
  Nccl& nccl_;
  Aborting& aborting_;
  Leaving& leaving_;
  Standing& standing_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_EXCHANGE_STEPPING_H_
