// Decides which rank keeps which part of the optimizer's moments (training.optimizer_state: sharded). These are pure
// functions of the membership's shards and the size of the state. Parts are cut at blocks of 64 Ki elements, like a
// checkpoint's shards.
#ifndef REKINDLE_WORKER_TRAIN_STATE_SHARD_MAP_H_
#define REKINDLE_WORKER_TRAIN_STATE_SHARD_MAP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/format/state_shards.h"
#include "worker/train/control/membership.h"

namespace rekindle::train {

using checkpoint::ElementRange;

// Returns the range in parts of at most `most` elements, in order.
std::vector<ElementRange> PartsOf(const ElementRange& range, int64_t most);

// Holds ranges of elements that are in order, disjoint and do not touch each other.
using ElementSet = std::vector<ElementRange>;
ElementSet Union(const ElementSet& a, const ElementSet& b);
ElementSet Subtract(const ElementSet& a, const ElementSet& b);

// Converts to the form used in reports, which is pairs [begin, end) of blocks one after the other.
std::vector<int> ToBlocks(const ElementSet& set);
int BlocksOf(int64_t total);

// Describes one shard of the membership. It may be empty if there are fewer blocks than shards.
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
  // `wanted` is what this rank has to hold.
  ElementSet wanted;

  bool Holds(const StateShard& shard) const { return shard.first == rank || shard.second == rank; }
};
// Returns FAILED_PRECONDITION if the membership deals out the shards in no possible way. `total` is the size of the
// state.
absl::StatusOr<ShardDeal> DealOf(const Membership& membership, int rank, int64_t total);
// Returns the files of a checkpoint of this state, which the shards' first holders write.
std::vector<checkpoint::ShardRange> FilesOf(int64_t total, const std::vector<ShardHolders>& holders);

struct Move {
  ElementRange range;
  int from = 0;
  int to = 0;

  bool operator==(const Move&) const = default;
};
// Plans what each rank must be sent so that it has what it wants. Each part comes from a rank that has it, and the work
// is spread evenly. `has` and `wants` are indexed by rank. Returns false if no rank has some part.
bool PlanMoves(const std::vector<ElementSet>& has, const std::vector<ElementSet>& wants, std::vector<Move>* moves);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_SHARD_MAP_H_
