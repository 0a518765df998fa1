#include "checkpoint/format/state_shards.h"

#include <algorithm>
#include <iterator>

namespace rekindle::checkpoint {
bool IsInside(const ShardRange& range, int64_t total) {
  return total >= 1 && total <= kMaxStateElements && range.begin >= 0 && range.begin < range.end && range.end <= total;
}

std::vector<ShardRange> CutShards(int64_t total, int ranks) {
  const int64_t blocks = (total + kBlockElements - 1) / kBlockElements;
  const int64_t most_blocks =
      (total > kManyShards * kShardElements ? kMaxShardElements : kShardElements) / kBlockElements;
  const int64_t needed = (blocks + most_blocks - 1) / most_blocks;
  // The number of shards is a multiple of the number of ranks, so that every rank gets the same number of shards,
  // unless some shards would then be empty.
  const int64_t count = std::min(blocks, (std::max<int64_t>(needed, 1) + ranks - 1) / ranks * ranks);
  std::vector<ShardRange> shards;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = blocks * i / count * kBlockElements;
    const int64_t end = std::min(total, blocks * (i + 1) / count * kBlockElements);
    shards.push_back({.begin = begin,
                      .end = end,
                      .index = static_cast<int>(i),
                      .count = static_cast<int>(count),
                      .owner = static_cast<int>(i * ranks / std::max<int64_t>(count, ranks))});
  }
  return shards;
}

std::vector<ShardRange> ShardsOf(const std::vector<ShardRange>& shards, int rank) {
  std::vector<ShardRange> own;
  std::copy_if(shards.begin(), shards.end(), std::back_inserter(own),
               [&](const ShardRange& shard) { return shard.owner == rank; });
  return own;
}

}  // namespace rekindle::checkpoint
