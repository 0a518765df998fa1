// Lets trainer processes talk to the coordinator. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_TRAINERS_SIM_VOICE_H_
#define REKINDLE_TESTS_SIMULATION_TRAINERS_SIM_VOICE_H_

#include <functional>
#include <utility>

#include "rekindle/v1/trainer.pb.h"
#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/world/sim_world.h"
#include "worker/train/control/reporter.h"

namespace rekindle::core::simulation {

// Holds what a trainer receives as an answer to its report.
struct Answer {
  v1::TrainerDirective directive;
  // `spend_seconds` is infinite if the job may spend without limit.
  double spend_seconds = 0;
};

// A Voice is the only thing that changes what a process reports. It sends reports as the real trainer does, following
// worker/train/{control/reporter,sessions/coordinator_session}.cc, and brings the answers back.
class Voice {
 public:
  // `hear` takes the answer to a report in the process, and the time by the process's clock at which that was sent.
  using Hear = std::function<void(Process&, const Answer&, double sent)>;
  Voice(World& world, Coordinator& coordinator, Hear hear)
      : world_(world), coordinator_(coordinator), hear_(std::move(hear)) {}

  // Changes what the process reports. It sends the report at once if the coordinator may have to decide on it.
  void Say(Process& process, const std::function<void(train::Reporter&)>& change);
  void Report(Process& process);

 private:
  void SendAnswer(const v1::TrainerReport& report, double sent);

  World& world_;
  Coordinator& coordinator_;
  const Hear hear_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_TRAINERS_SIM_VOICE_H_
