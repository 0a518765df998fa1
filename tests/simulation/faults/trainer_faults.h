// Breaks trainers and what they compute with. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_FAULTS_TRAINER_FAULTS_H_
#define REKINDLE_TESTS_SIMULATION_FAULTS_TRAINER_FAULTS_H_

#include "tests/simulation/nodes/sim_supervisor.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A TrainerFaults ends or freezes processes, and breaks the GPUs and the exchange that they need.
class TrainerFaults {
 public:
  TrainerFaults(World& world, Supervisor& supervisor) : world_(world), supervisor_(supervisor) {}

  void Kill(Process& process);
  void Freeze(Process& process);
  // Kills all trainers that have the newest state of their jobs, or all others too.
  void KillHolders(bool others_too);
  // Breaks the GPU of one of the node's slots for a while.
  void FailGpu(SimNode& node);
  // Makes NCCL hang in some job.
  void HangNccl();

 private:
  World& world_;
  Supervisor& supervisor_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_FAULTS_TRAINER_FAULTS_H_
