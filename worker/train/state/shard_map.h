// Decides which rank keeps which part of the optimizer's moments (training.optimizer_state: sharded). The functions are
// pure and depend on the membership's shards and the size of the state. Parts are cut at blocks of 64 Ki elements, like
// a checkpoint's shards.
#ifndef REKINDLE_WORKER_TRAIN_STATE_SHARD_MAP_H_
#define REKINDLE_WORKER_TRAIN_STATE_SHARD_MAP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/format/state_shards.h"
#include "worker/train/control/membership.h"

namespace rekindle::train {

using checkpoint::ElementRange;

// Returns `range` cut into parts of at most `most` elements, in order.
std::vector<ElementRange> PartsOf(const ElementRange& range, int64_t most);

// Holds a set of elements as ranges that are in order, disjoint and do not touch each other.
using ElementSet = std::vector<ElementRange>;
ElementSet Union(const ElementSet& a, const ElementSet& b);
ElementSet Subtract(const ElementSet& a, const ElementSet& b);

// Converts a set to the form that reports use, which is a list of pairs [begin, end) of blocks.
std::vector<int> ToBlocks(const ElementSet& set);
int BlocksOf(int64_t total);

// Describes one shard of the moments and its two holders. The shard may be empty if there are fewer blocks than shards.
struct StateShard {
  ElementRange range;
  int first = 0;
  int second = 0;
};
std::vector<StateShard> CutState(int64_t total, const std::vector<ShardHolders>& holders);
ElementSet HeldBy(const std::vector<StateShard>& shards, int rank);

// Says who holds which shards in a generation, as one rank sees it.
struct ShardDeal {
  int rank = 0;
  std::vector<ShardHolders> holders;
  std::vector<StateShard> shards;
  // `wanted` has the elements of the shards that this rank has to hold.
  ElementSet wanted;

  bool Holds(const StateShard& shard) const { return shard.first == rank || shard.second == rank; }
};
// Returns who holds which of the membership's shards, as rank `rank` sees it. Returns FAILED_PRECONDITION if the
// membership distributes the shards in an impossible way. `total` is the size of the state.
absl::StatusOr<ShardDeal> DealOf(const Membership& membership, int rank, int64_t total);
// Returns the files of a checkpoint of a sharded state. The first holder of each shard writes its files.
std::vector<checkpoint::ShardRange> FilesOf(int64_t total, const std::vector<ShardHolders>& holders);

struct Move {
  ElementRange range;
  int from = 0;
  int to = 0;

  bool operator==(const Move&) const = default;
};
// Plans which elements each rank must be sent so that it has all that it wants. Each part comes from a rank that has
// it, and the sends are spread evenly over the ranks. `has` and `wants` are indexed by rank. Returns false if some
// wanted part is on no rank.
bool PlanMoves(const std::vector<ElementSet>& has, const std::vector<ElementSet>& wants, std::vector<Move>* moves);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_SHARD_MAP_H_
