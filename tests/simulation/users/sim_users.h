// Puts the parts of this room together. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_USERS_SIM_USERS_H_
#define REKINDLE_TESTS_SIMULATION_USERS_SIM_USERS_H_

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/nodes/nodes.h"
#include "tests/simulation/users/budgets.h"
#include "tests/simulation/users/lost_jobs.h"
#include "tests/simulation/users/recovered_jobs.h"
#include "tests/simulation/users/resuming.h"
#include "tests/simulation/users/submitting.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Owns what users do.
struct Users {
  Users(World& world, Coordinator& coordinator, Nodes& nodes)
      : submitting(world, coordinator),
        budgets(world, coordinator),
        resuming(world, coordinator),
        recovered_jobs(world, coordinator),
        lost_jobs(world, coordinator, nodes.strangers, submitting, recovered_jobs) {
    coordinator.Add(&budgets);
  }
  Users(const Users&) = delete;
  Users& operator=(const Users&) = delete;

  Submitting submitting;
  Budgets budgets;
  Resuming resuming;
  RecoveredJobs recovered_jobs;
  LostJobs lost_jobs;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_USERS_SIM_USERS_H_
