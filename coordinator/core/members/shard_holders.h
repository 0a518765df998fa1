// Decides who keeps the shards of the optimizer's state (training.optimizer_state: sharded), and says what is lost with
// whom. The functions on places and candidates are pure.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_SHARD_HOLDERS_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_SHARD_HOLDERS_H_

#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// A Place says where a member runs.
struct Place {
  std::string node;
  std::string zone;      // Empty where it is not known.
  bool leaving = false;  // Its node drains.
};

// Returns the ranks of the first and second holder of each shard. There is a shard for each member that stays, or for
// every member when none stays, which is its first holder. The second holder is another of these members: one in
// another zone if there is one, else one on another node, else any. Among equal ones it is the one that is second
// holder of the fewest shards. A member that is alone is both.
std::vector<std::pair<int, int>> PairHolders(const std::vector<Place>& places);

// Writes membership.shards if the job's state is in shards. Members that leave hand their shards on.
void AssignShards(const State& state, const Job& job, v1::Membership* membership);

// Returns what is missing, as part of a sentence, when some of `pool` is live but no step is whole. Returns an empty
// string otherwise.
std::string DescribeLost(const Job& job, const std::vector<Candidate>& pool);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_SHARD_HOLDERS_H_
