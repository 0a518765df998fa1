// Breaks the stores of jobs. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_FAULTS_STORE_FAULTS_H_
#define REKINDLE_TESTS_SIMULATION_FAULTS_STORE_FAULTS_H_

#include "tests/simulation/faults/trainer_faults.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A StoreFaults fills, hides and damages the stores.
class StoreFaults {
 public:
  StoreFaults(World& world, TrainerFaults& trainer_faults) : world_(world), trainer_faults_(trainer_faults) {}

  // Breaks something in a store. Often the processes that have the state die soon after, so that the store is needed.
  void Spoil();

 private:
  // Lets stores not answer, or not be mounted, on some nodes.
  void TakeAway(bool away, double until);
  // Damages the newest checkpoint if there is an older one that is not damaged. Returns whether it did.
  bool DamageNewest(SimJob& job);

  World& world_;
  TrainerFaults& trainer_faults_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_FAULTS_STORE_FAULTS_H_
