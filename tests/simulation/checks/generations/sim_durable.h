// Checks that durable checkpoints are not given up. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_SIM_DURABLE_H_
#define REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_SIM_DURABLE_H_

#include <map>
#include <set>
#include <string>

#include "tests/simulation/coordinator/turn_observer.h"
#include "tests/simulation/world/observer.h"
#include "tests/simulation/world/sim_journal.h"

namespace rekindle::core::simulation {

// Checks that no generation is formed below the newest durable checkpoint that the coordinator has recorded and that is
// not damaged.
class DurableCheck final : public TurnObserver, public Observer {
 public:
  explicit DurableCheck(Journal& journal) : journal_(journal) {}

  void JobSaved(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) override;
  void JobIsNew(const SimJob& job) override { recorded_.erase(job.uid); }

 private:
  Journal& journal_;
  // `recorded_` names for each job's uid the checkpoints that the coordinator has recorded as durable.
  std::map<std::string, std::set<std::string>> recorded_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_SIM_DURABLE_H_
