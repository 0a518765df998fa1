// Who keeps the shards of the optimizer's state (training.optimizer_state: sharded), and what is lost with whom.
// Pure.
#ifndef REKINDLE_COORDINATOR_CORE_SHARD_HOLDERS_H_
#define REKINDLE_COORDINATOR_CORE_SHARD_HOLDERS_H_

#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/formation.h"
#include "coordinator/core/state.h"

namespace rekindle::core {

// Where a member runs.
struct Place {
  std::string node;
  std::string zone;      // Empty: not known.
  bool leaving = false;  // Its node drains.
};

// A shard for each member that stays (for each, when none does): its first holder is that member, the second the one
// with the fewest shards of those that stay in another zone; if there is none, on another node; then any other; then
// itself. First and second, by rank.
std::vector<std::pair<int, int>> PairHolders(const std::vector<Place>& places);

// Writes membership.shards, if the job's state is in shards. Members that leave hand theirs on.
void AssignShards(const State& state, const Job& job, v1::Membership* membership);

// For a sentence, when no step is whole among `pool`, though some of it is live: what is missing. Else empty.
std::string DescribeLost(const Job& job, const std::vector<Candidate>& pool);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SHARD_HOLDERS_H_
