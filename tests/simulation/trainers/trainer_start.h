// Models how a trainer process begins. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_TRAINERS_TRAINER_START_H_
#define REKINDLE_TESTS_SIMULATION_TRAINERS_TRAINER_START_H_

#include <string>

#include "tests/simulation/trainers/leases.h"
#include "tests/simulation/trainers/sim_store_search.h"
#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A TrainerStart lets a new process look into its job's store, and report and ask for its lease again and again from
// then on.
class TrainerStart {
 public:
  TrainerStart(World& world, Voice& voice, StoreSearch& search, LeaseAsker& lease_asker)
      : world_(world), voice_(voice), search_(search), lease_asker_(lease_asker) {}

  void Begin(const std::string& id);

 private:
  void ReportLoop(Process& process);

  World& world_;
  Voice& voice_;
  StoreSearch& search_;
  LeaseAsker& lease_asker_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_TRAINERS_TRAINER_START_H_
