// Models the users of jobs whose records were made from what their stores keep. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_USERS_RECOVERED_JOBS_H_
#define REKINDLE_TESTS_SIMULATION_USERS_RECOVERED_JOBS_H_

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A RecoveredJobs is the users who know whether anything of their jobs still runs, which the coordinator cannot know.
class RecoveredJobs {
 public:
  RecoveredJobs(World& world, Coordinator& coordinator) : world_(world), coordinator_(coordinator) {}

  // Begins to check again and again whether any process that ran for the job before the records were lost still runs.
  // Once none does, the user tells the coordinator so.
  void Follow(SimJob& job);
  void LookForOld(SimJob& job);

 private:
  World& world_;
  Coordinator& coordinator_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_USERS_RECOVERED_JOBS_H_
