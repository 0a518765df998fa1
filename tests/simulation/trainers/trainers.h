// Puts the parts of this room together. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_TRAINERS_TRAINERS_H_
#define REKINDLE_TESTS_SIMULATION_TRAINERS_TRAINERS_H_

#include <utility>

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/trainers/leases.h"
#include "tests/simulation/trainers/saving.h"
#include "tests/simulation/trainers/sim_store_search.h"
#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/trainers/trainer_start.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Owns what moves each trainer by itself.
struct Trainers {
  // `hear` takes what a process hears from the coordinator.
  Trainers(World& world, Coordinator& coordinator, Voice::Hear hear)
      : voice(world, coordinator, std::move(hear)),
        lease_asker(world, coordinator),
        search(world, voice),
        saving(world, voice),
        start(world, voice, search, lease_asker) {}
  Trainers(const Trainers&) = delete;
  Trainers& operator=(const Trainers&) = delete;

  Voice voice;
  LeaseAsker lease_asker;
  StoreSearch search;
  Saving saving;
  TrainerStart start;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_TRAINERS_TRAINERS_H_
