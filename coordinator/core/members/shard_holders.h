// Decides which members hold the shards of the optimizer's state (training.optimizer_state: sharded), and describes
// which part of it is lost with members. The functions on places and candidates are pure.
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
  // `zone` is empty where the zone of the member's node is not known.
  std::string zone;
  // `leaving` says that the member has to leave, with its node or alone.
  bool leaving = false;
};

// Returns the ranks of the first and second holder of each shard. Each member that stays is the first holder of one
// shard. If no member stays, each member that leaves is. The second holder of a shard is another one of these first
// holders: one in another zone if there is one, else one on another node, else any. Among equal ones it is the member
// that is second holder of the fewest shards. Where there is only one first holder, it is the second holder, too.
std::vector<std::pair<int, int>> PairHolders(const std::vector<Place>& places);

// Writes membership.shards if the job's state is in shards. Members that leave hand their shards on.
void AssignShards(const State& state, const Job& job, v1::Membership* membership);

// Returns which part of the state is missing, as part of a sentence, when some candidates of `pool` are live but
// together hold no whole step. Returns an empty string otherwise.
std::string DescribeLost(const Job& job, const std::vector<Candidate>& pool);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_SHARD_HOLDERS_H_
