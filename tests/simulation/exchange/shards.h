// Models a sharded optimizer state, following worker/train/state/{placement,moment_transfer}.cc. This file is for tests
// only.
#ifndef REKINDLE_TESTS_SIMULATION_EXCHANGE_SHARDS_H_
#define REKINDLE_TESTS_SIMULATION_EXCHANGE_SHARDS_H_

#include <map>
#include <set>
#include <string>

#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/world/sim_process.h"

namespace rekindle::core::simulation {

// Returns whether the processes `ids` together have every block of the optimizer state of `step`, and at least one of
// them has all weights of that step.
bool AreThere(const std::map<std::string, Process>& processes, const std::set<std::string>& ids, int step);

// Shards keeps track of which blocks of a sharded optimizer state a process holds.
class Shards {
 public:
  explicit Shards(Voice& voice) : voice_(voice) {}

  // Lets the process hold the blocks that its generation wants it to hold. If it has blocks of `step` already, it keeps
  // them, because other ranks may need them until all ranks have theirs.
  void Take(Process& process, int step);
  // Lets the process hold only the blocks that its generation wants it to hold.
  void Release(Process& process);

 private:
  Voice& voice_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_EXCHANGE_SHARDS_H_
