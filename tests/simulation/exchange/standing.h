// Models ranks that stand still, following worker/train/engine/standstill.cc. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_EXCHANGE_STANDING_H_
#define REKINDLE_TESTS_SIMULATION_EXCHANGE_STANDING_H_

#include <functional>

#include "rekindle/v1/membership.pb.h"
#include "tests/simulation/exchange/aborting.h"
#include "tests/simulation/trainers/saving.h"
#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A Standing keeps the ranks of a generation from going on while none of them has a lease that holds.
class Standing {
 public:
  Standing(World& world, Voice& voice, Saving& saving, Aborting& aborting)
      : world_(world), voice_(voice), saving_(saving), aborting_(aborting) {}

  // Lets the ranks stand still, because no rank's lease held when it sent its part of the step. The step is reduced but
  // not applied. Calls `go_on` once a lease holds again, unless the generation ends before.
  void StandStill(SimJob& job, int generation, int step, std::function<void()> go_on);

 private:
  void AskAgain(SimJob& job, int generation, std::function<void()> go_on);
  // Ends a generation that stands still because one member has gone. If no connection was closed, the others notice its
  // absence only at their deadline.
  void EndStanding(const v1::Membership& membership);

  World& world_;
  Voice& voice_;
  Saving& saving_;
  Aborting& aborting_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_EXCHANGE_STANDING_H_
