// Models how users pause and resume jobs. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_USERS_RESUMING_H_
#define REKINDLE_TESTS_SIMULATION_USERS_RESUMING_H_

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A Resuming is the users who pause their jobs, which they resume once the faults have stopped.
class Resuming {
 public:
  Resuming(World& world, Coordinator& coordinator) : world_(world), coordinator_(coordinator) {}

  // Pauses a job, or resumes it if it is paused. The coordinator must be up.
  void PauseOrResume();
  // Resumes all paused jobs again and again, as users do, until the coordinator has accepted that. A pause may still be
  // under way when ResumeAll begins. The coordinator must be up.
  void ResumeAll();

 private:
  World& world_;
  Coordinator& coordinator_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_USERS_RESUMING_H_
