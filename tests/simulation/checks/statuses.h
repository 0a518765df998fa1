// Checks that jobs' statuses are true. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_CHECKS_STATUSES_H_
#define REKINDLE_TESTS_SIMULATION_CHECKS_STATUSES_H_

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/coordinator/turn_observer.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Checks that the status of each job that a turn has changed says what is true.
class StatusCheck final : public TurnObserver {
 public:
  StatusCheck(Journal& journal, const Coordinator& coordinator) : journal_(journal), coordinator_(coordinator) {}

  void TurnDecided(const Turn& turn) override;

 private:
  Journal& journal_;
  const Coordinator& coordinator_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_CHECKS_STATUSES_H_
