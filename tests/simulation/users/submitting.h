// Models how users submit jobs. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_USERS_SUBMITTING_H_
#define REKINDLE_TESTS_SIMULATION_USERS_SUBMITTING_H_

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A Submitting is the users who have a job to submit.
class Submitting {
 public:
  Submitting(World& world, Coordinator& coordinator) : world_(world), coordinator_(coordinator) {}

  // Submits the job again and again, as users do, until the coordinator has saved its record.
  void Submit(SimJob& job);

 private:
  World& world_;
  Coordinator& coordinator_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_USERS_SUBMITTING_H_
