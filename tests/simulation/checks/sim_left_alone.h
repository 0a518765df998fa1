// Checks that nobody stops what the coordinator does not know. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_CHECKS_SIM_LEFT_ALONE_H_
#define REKINDLE_TESTS_SIMULATION_CHECKS_SIM_LEFT_ALONE_H_

#include <string>

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/world/observer.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Checks that no process is stopped by a coordinator that does not know its job.
class LeftAloneCheck final : public Observer {
 public:
  LeftAloneCheck(const World& world, Journal& journal, const Coordinator& coordinator)
      : world_(world), journal_(journal), coordinator_(coordinator) {}

  void ProcessIsStopped(const Process& process, const std::string& who) override;

 private:
  const World& world_;
  Journal& journal_;
  const Coordinator& coordinator_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_CHECKS_SIM_LEFT_ALONE_H_
