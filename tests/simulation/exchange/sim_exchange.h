// Puts the parts of this room together. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_EXCHANGE_SIM_EXCHANGE_H_
#define REKINDLE_TESTS_SIMULATION_EXCHANGE_SIM_EXCHANGE_H_

#include <utility>

#include "tests/simulation/exchange/aborting.h"
#include "tests/simulation/exchange/entering.h"
#include "tests/simulation/exchange/nccl.h"
#include "tests/simulation/exchange/obeying.h"
#include "tests/simulation/exchange/shards.h"
#include "tests/simulation/exchange/sim_leaving.h"
#include "tests/simulation/exchange/standing.h"
#include "tests/simulation/exchange/stepping.h"
#include "tests/simulation/trainers/trainers.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Owns what moves the trainers of a generation together.
struct Exchange {
  // `stop` ends a process with an exit code.
  Exchange(World& world, Trainers& trainers, Obeying::Stop stop)
      : shards(trainers.voice),
        nccl(world, trainers.voice),
        aborting(world, trainers.voice, nccl, [this](Process& process) { obeying.ObeyAgain(process); }),
        leaving(world, trainers.voice, trainers.saving, aborting),
        standing(world, trainers.voice, trainers.saving, aborting),
        stepping(world, trainers.voice, trainers.saving, nccl, aborting, leaving, standing),
        entering(world, trainers.voice, trainers.search, shards, aborting, stepping,
                 [this](Process& process) { obeying.ObeyAgain(process); }),
        obeying(world, trainers.voice, aborting, entering, std::move(stop)) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  Shards shards;
  Nccl nccl;
  Aborting aborting;
  Leaving leaving;
  Standing standing;
  Stepping stepping;
  Entering entering;
  Obeying obeying;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_EXCHANGE_SIM_EXCHANGE_H_
