// Checks that no completed step is lost. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_LOSSES_H_
#define REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_LOSSES_H_

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/coordinator/turn_observer.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Checks that no completed step is lost while a process lives that holds it and can be heard. With a sharded state
// several processes may hold the step together.
class LossCheck final : public TurnObserver {
 public:
  LossCheck(const World& world, Journal& journal, const Coordinator& coordinator)
      : world_(world), journal_(journal), coordinator_(coordinator) {}

  void JobSaved(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) override;

 private:
  bool CanBeHeard(const Process& process) const;

  const World& world_;
  Journal& journal_;
  const Coordinator& coordinator_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_LOSSES_H_
