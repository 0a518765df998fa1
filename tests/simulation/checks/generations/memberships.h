// Checks which generations the coordinator forms. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_MEMBERSHIPS_H_
#define REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_MEMBERSHIPS_H_

#include "tests/simulation/coordinator/turn_observer.h"
#include "tests/simulation/world/sim_journal.h"

namespace rekindle::core::simulation {

// Checks that each generation is above every earlier one and never changes once it is saved, and that the ranges of its
// members are a partition of the micro-batches.
class MembershipCheck final : public TurnObserver {
 public:
  explicit MembershipCheck(Journal& journal) : journal_(journal) {}

  void JobSaved(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) override;

 private:
  void CheckWork(const SimJob& job, const v1::Membership& membership);

  Journal& journal_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_MEMBERSHIPS_H_
