// Models how trainers search the stores of their jobs for checkpoints. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_TRAINERS_SIM_STORE_SEARCH_H_
#define REKINDLE_TESTS_SIMULATION_TRAINERS_SIM_STORE_SEARCH_H_

#include <functional>
#include <string>

#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A StoreSearch lets a process look into its job's store and report what it finds, following
// checkpoint/job/job_checkpoints.cc and worker/train/save/checkpoint_search.cc.
class StoreSearch {
 public:
  StoreSearch(World& world, Voice& voice) : world_(world), voice_(voice) {}

  // Looks into the store, then calls `looked`, and looks again until the store answers. A trainer whose store does not
  // answer is not ready, unless its directive says that it need not look.
  void AwaitStore(Process& process, const std::function<void()>& looked);
  // Looks for the checkpoint that the directive names, at once and then after growing pauses. A process in a generation
  // does not look.
  void Follow(Process& process);
  // Looks for the checkpoint now.
  void Find(Process& process, const std::string& manifest, bool verify);

 private:
  void LookAnew(Process& process);

  World& world_;
  Voice& voice_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_TRAINERS_SIM_STORE_SEARCH_H_
