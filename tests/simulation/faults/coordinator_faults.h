// Breaks the coordinator and what it relies on. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_FAULTS_COORDINATOR_FAULTS_H_
#define REKINDLE_TESTS_SIMULATION_FAULTS_COORDINATOR_FAULTS_H_

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A CoordinatorFaults kills the coordinator, and breaks its database and its clock.
class CoordinatorFaults {
 public:
  CoordinatorFaults(World& world, Coordinator& coordinator) : world_(world), coordinator_(coordinator) {}

  void Kill();
  // Kills the coordinator, which is away for longer than jobs may spend without it.
  void KillForLong();
  // Lets the database fail or be slow for a while.
  void SpoilDatabase();
  // Sets the coordinator's wall clock. Other clocks do not jump.
  void StepClock();

 private:
  World& world_;
  Coordinator& coordinator_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_FAULTS_COORDINATOR_FAULTS_H_
