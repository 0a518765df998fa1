// Checks what the steps of a job are made of. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_REDUCTIONS_H_
#define REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_REDUCTIONS_H_

#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/simulation/world/observer.h"
#include "tests/simulation/world/sim_journal.h"

namespace rekindle::core::simulation {

// Checks each step that is reduced or applied, and that no older generation steps after a newer one.
class ReductionCheck final : public Observer {
 public:
  explicit ReductionCheck(Journal& journal) : journal_(journal) {}

  // Checks that a step is the sum of every micro-batch once, that all members stand at the same step, and that no older
  // generation steps after a newer one. The last exchange of a job, after which its members save the result, is no
  // step: it changes no weights, and the store refuses what an older generation saves.
  void StepReduced(const SimJob& job, const Fabric& fabric, int step) override;
  // Checks that after a newer generation has stepped, a rank of an older one applies at most the step that it was in.
  void StepApplied(const Process& process, int generation, int step) override;
  void JobIsNew(const SimJob& job) override { stepped_.erase(job.uid); }

 private:
  // Orders generations by age: first by the epoch of the coordinator that formed them, then by number. The number alone
  // is not enough, because after a copy of the records was brought back forgotten numbers are given again.
  using Age = std::pair<int, int>;
  static Age AgeOf(const v1::Membership& membership) { return {membership.epoch(), membership.generation()}; }

  struct Stepped {
    // `newest` is the age of the newest generation that has completed an all-reduce.
    Age newest;
    // `late` names each trainer, with its generation, that applied its running step after a newer generation had
    // stepped.
    std::set<std::string> late;
  };
  void CheckSum(const SimJob& job, const Fabric& fabric, int step);

  Journal& journal_;
  // The uids of jobs are the keys.
  std::map<std::string, Stepped> stepped_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_REDUCTIONS_H_
