// Models how a trainer follows the coordinator's directives. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_EXCHANGE_OBEYING_H_
#define REKINDLE_TESTS_SIMULATION_EXCHANGE_OBEYING_H_

#include <functional>
#include <string>
#include <utility>

#include "rekindle/v1/trainer.pb.h"
#include "tests/simulation/exchange/aborting.h"
#include "tests/simulation/exchange/entering.h"
#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// An Obeying lets a process do what it is told: leave its generation, enter a newer one, or exit.
class Obeying {
 public:
  // `stop` ends a process with an exit code.
  using Stop = std::function<void(Process&, int code)>;
  Obeying(World& world, Voice& voice, Aborting& aborting, Entering& entering, Stop stop)
      : world_(world), voice_(voice), aborting_(aborting), entering_(entering), stop_(std::move(stop)) {}

  // Takes the lease and the directive from an answer to what the process sent at `sent` by its clock.
  void Hear(Process& process, const Answer& answer, double sent);
  // Follows the newest directive that the process has once more.
  void ObeyAgain(Process& process) { Obey(process, v1::TrainerDirective(process.directive)); }

 private:
  void Obey(Process& process, const v1::TrainerDirective& directive);
  // Ends a process that the coordinator refuses. A trainer with the right data and arithmetic must never be refused.
  void BeRefused(Process& process, const std::string& error);

  World& world_;
  Voice& voice_;
  Aborting& aborting_;
  Entering& entering_;
  const Stop stop_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_EXCHANGE_OBEYING_H_
