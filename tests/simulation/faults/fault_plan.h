// Plans what goes wrong and when, as a function of the seed. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_FAULTS_FAULT_PLAN_H_
#define REKINDLE_TESTS_SIMULATION_FAULTS_FAULT_PLAN_H_

#include <functional>

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/faults/coordinator_faults.h"
#include "tests/simulation/faults/copies.h"
#include "tests/simulation/faults/market_faults.h"
#include "tests/simulation/faults/node_faults.h"
#include "tests/simulation/faults/store_faults.h"
#include "tests/simulation/faults/trainer_faults.h"
#include "tests/simulation/faults/vanishings.h"
#include "tests/simulation/nodes/nodes.h"
#include "tests/simulation/users/sim_users.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A FaultPlan owns what breaks each part of the cluster, and says when that happens and when it stops.
class FaultPlan {
 public:
  FaultPlan(World& world, Coordinator& coordinator, Nodes& nodes, Users& users);

  // Plans the faults of the whole schedule.
  void Plan();
  // Stops the faults and brings back what they broke.
  void Heal();

 private:
  // Plans that `fault` happens `times` times between the seconds `first` and `last`.
  void PlanEach(int times, double first, double last, const std::function<void()>& fault);
  void OneFault();
  void FaultOn(SimNode& node);
  // Kills all trainers at once, or adds a node.
  void KillAllOrAddNode();

  World& world_;
  Coordinator& coordinator_;
  Nodes& nodes_;
  Users& users_;
  TrainerFaults trainer_faults_;
  NodeFaults node_faults_;
  CoordinatorFaults coordinator_faults_;
  StoreFaults store_faults_;
  MarketFaults market_faults_;
  Vanishings vanishings_;
  Copies copies_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_FAULTS_FAULT_PLAN_H_
