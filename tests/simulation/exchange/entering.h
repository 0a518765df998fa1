// Models how the ranks of a generation find together. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_EXCHANGE_ENTERING_H_
#define REKINDLE_TESTS_SIMULATION_EXCHANGE_ENTERING_H_

#include <functional>
#include <utility>

#include "rekindle/v1/membership.pb.h"
#include "tests/simulation/exchange/aborting.h"
#include "tests/simulation/exchange/shards.h"
#include "tests/simulation/exchange/stepping.h"
#include "tests/simulation/trainers/sim_store_search.h"
#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// An Entering takes processes into a generation: they connect to each other, each of them gets the state of the first
// step, and then they step.
class Entering {
 public:
  // `obey` lets a process follow the newest directive that it has.
  Entering(World& world, Voice& voice, StoreSearch& search, Shards& shards, Aborting& aborting, Stepping& stepping,
           std::function<void(Process&)> obey)
      : world_(world),
        voice_(voice),
        search_(search),
        shards_(shards),
        aborting_(aborting),
        stepping_(stepping),
        obey_(std::move(obey)) {}

  void Enter(Process& process, const v1::Membership& membership);

 private:
  // Returns the communicator of the membership. A coordinator that was restored from an older copy of its records may
  // give the number of a generation a second time. Ranks of two memberships never meet, even if both have the same
  // number.
  Fabric& FabricFor(const Process& process, const v1::Membership& membership);
  void Connect(SimJob& job, int generation);
  void TakeState(Process& process);
  // Gives the state of the generation's first step to the process, which is in the generation.
  void TakeStateNow(Process& process, int generation);
  // Returns whether the members hold all shards together. A violation is noted if they do not although all are there.
  bool HaveAllShards(const v1::Membership& membership);
  // Notes that the process has the state of `step`. `written` says that it did not have that state before.
  void HaveState(Process& process, int step, bool written);

  World& world_;
  Voice& voice_;
  StoreSearch& search_;
  Shards& shards_;
  Aborting& aborting_;
  Stepping& stepping_;
  const std::function<void(Process&)> obey_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_EXCHANGE_ENTERING_H_
