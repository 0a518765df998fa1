// Models the users of jobs that are stopped by their budgets. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_USERS_BUDGETS_H_
#define REKINDLE_TESTS_SIMULATION_USERS_BUDGETS_H_

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/coordinator/turn_observer.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A Budgets sees which jobs are stopped. After a while the user of each raises the budget.
class Budgets final : public TurnObserver {
 public:
  Budgets(World& world, Coordinator& coordinator) : world_(world), coordinator_(coordinator) {}

  void JobSaved(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) override;

 private:
  // Raises the budget again and again, as users do, until the coordinator has accepted that. If the job still does not
  // go on, the user raises the budget further.
  void Raise(SimJob& job, int times);

  World& world_;
  Coordinator& coordinator_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_USERS_BUDGETS_H_
