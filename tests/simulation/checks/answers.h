// Compares the coordinator's decisions with those of a coordinator that looks at everything. This file is for tests
// only.
#ifndef REKINDLE_TESTS_SIMULATION_CHECKS_ANSWERS_H_
#define REKINDLE_TESTS_SIMULATION_CHECKS_ANSWERS_H_

#include <map>
#include <string>

#include "coordinator/core/cluster.h"
#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/coordinator/turn_observer.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Checks that looking only at what an event concerns gives the same answers as looking at everything, and that every
// agent or trainer whose answer has changed is among those that are woken. It does so after each turn if the schedule
// wants that.
class AnswerCheck final : public TurnObserver {
 public:
  AnswerCheck(const World& world, Journal& journal, const Coordinator& coordinator)
      : world_(world), journal_(journal), coordinator_(coordinator) {}

  void TurnBegins() override;
  void TurnDecided(const Turn& turn) override;
  // Compares what the coordinator says now. Nothing may be due in its core.
  void CompareWithFull();

 private:
  // An answer is represented by the revision of its directive.
  struct Answers {
    std::map<std::string, int> trainers, nodes;
  };
  Answers AnswersOf(const Cluster& cluster) const;
  void CompareJobs(const Cluster& full);
  void CompareAnswers(const Cluster& full);
  void CheckWoken(const Turn& turn);

  const World& world_;
  Journal& journal_;
  const Coordinator& coordinator_;
  // `before_` has the answers before the turn.
  Answers before_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_CHECKS_ANSWERS_H_
