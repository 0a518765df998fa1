// Checks that found jobs are taken over. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_CHECKS_SIM_ADOPTION_H_
#define REKINDLE_TESTS_SIMULATION_CHECKS_SIM_ADOPTION_H_

#include <map>
#include <string>

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/world/observer.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Checks that a job that the coordinator has found is taken over soon if its store says whose job it is.
class AdoptionCheck final : public Observer {
 public:
  AdoptionCheck(const World& world, Journal& journal, const Coordinator& coordinator)
      : world_(world), journal_(journal), coordinator_(coordinator) {}

  void JobIsMissed(const SimJob& job, bool is_found) override;

 private:
  // Returns whether the coordinator hears all of the job's processes, each of them can read the job's store, and at
  // least one is in a generation.
  bool IsProvable(const SimJob& job) const;

  const World& world_;
  Journal& journal_;
  const Coordinator& coordinator_;
  // `provable_for_` has for each job's uid for how many seconds nothing has prevented the coordinator from finding out
  // whose job it is.
  std::map<std::string, double> provable_for_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_CHECKS_SIM_ADOPTION_H_
