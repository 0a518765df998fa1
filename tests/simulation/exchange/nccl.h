// Models how GPUs exchange: by NCCL, which may hang, or over their hosts. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_EXCHANGE_NCCL_H_
#define REKINDLE_TESTS_SIMULATION_EXCHANGE_NCCL_H_

#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Nccl says whether what a generation exchanges comes to its end, and how a process leaves NCCL.
class Nccl {
 public:
  Nccl(World& world, Voice& voice) : world_(world), voice_(voice) {}

  // Returns whether what the process's generation exchanges comes to its end.
  bool MayExchange(const Process& process);
  // Lets the process leave NCCL with its generation. Sometimes the abort of NCCL hangs as well. Then the process enters
  // no generation until that is given up, and does not use NCCL any more.
  void Leave(Process& process);

 private:
  World& world_;
  Voice& voice_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_EXCHANGE_NCCL_H_
