// Takes machines away at the worst moment for a job. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_FAULTS_VANISHINGS_H_
#define REKINDLE_TESTS_SIMULATION_FAULTS_VANISHINGS_H_

#include "tests/simulation/coordinator/turn_observer.h"
#include "tests/simulation/nodes/sim_machines.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Lets the machine of a member vanish around the moment when the member is told to run a new generation, so that the
// coordinator may never hear of the member again. Nobody is told that the machine is gone.
class Vanishings final : public TurnObserver {
 public:
  Vanishings(World& world, Machines& machines) : world_(world), machines_(machines) {}

  // A machine vanishes with each of the next generations of at least two members, `times` in all.
  void Arm(int times) { armed_ = times; }
  void Disarm() { armed_ = 0; }

  void JobSaved(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) override;

 private:
  World& world_;
  Machines& machines_;
  int armed_ = 0;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_FAULTS_VANISHINGS_H_
