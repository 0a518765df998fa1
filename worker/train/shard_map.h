// Who keeps which part of the optimizer's moments (training.optimizer_state: sharded): pure functions of the
// membership's shards and the size of the state. Parts are cut at blocks of 64 Ki elements, as a checkpoint's shards.
#ifndef REKINDLE_WORKER_TRAIN_SHARD_MAP_H_
#define REKINDLE_WORKER_TRAIN_SHARD_MAP_H_

#include <cstdint>
#include <vector>

#include "checkpoint/state_shards.h"
#include "worker/train/control_plane.h"

namespace rekindle::train {

using checkpoint::ElementRange;

// Sets of elements: in order, disjoint, not touching each other.
using ElementSet = std::vector<ElementRange>;
ElementSet Union(const ElementSet& a, const ElementSet& b);
ElementSet Subtract(const ElementSet& a, const ElementSet& b);
ElementSet Intersect(const ElementSet& a, const ElementSet& b);
int64_t CountOf(const ElementSet& set);

// For reports: [begin, end) of blocks, one after the other. The last block may be cut short by `total`.
std::vector<int> ToBlocks(const ElementSet& set);
ElementSet FromBlocks(const std::vector<int>& blocks, int64_t total);
int BlocksOf(int64_t total);

// One for each of the membership's; may be empty where there are fewer blocks than shards.
struct StateShard {
  ElementRange range;
  int first = 0;
  int second = 0;
};
std::vector<StateShard> CutState(int64_t total, const std::vector<ShardHolders>& holders);
ElementSet HeldBy(const std::vector<StateShard>& shards, int rank);
// The files of a checkpoint of it, written by the shards' first holders.
std::vector<checkpoint::ShardRange> FilesOf(int64_t total, const std::vector<ShardHolders>& holders);

struct Move {
  ElementRange range;
  int from = 0;
  int to = 0;

  bool operator==(const Move&) const = default;
};
// What each rank must be sent so that it has what it wants: from whoever has it, shared out evenly. By rank: `has` and
// `wants`. False: nobody has some of it.
bool PlanMoves(const std::vector<ElementSet>& has, const std::vector<ElementSet>& wants, std::vector<Move>* moves);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SHARD_MAP_H_
