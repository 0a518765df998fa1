#include "checkpoint/format/state_shards.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "checkpoint/format/manifest.h"
#include "checkpoint/format/planes.h"

namespace rekindle::checkpoint {
namespace {

TEST(StateShardsTest, CutsAreBalancedAndBounded) {
  for (int64_t total : {int64_t{1}, kBlockElements, kBlockElements + 1, 7 * kBlockElements, kMaxShardElements + 1,
                        10 * kMaxShardElements + 12345}) {
    for (int ranks = 1; ranks <= 7; ++ranks) {
      const auto shards = CutShards(total, ranks);
      ASSERT_FALSE(shards.empty());
      int64_t at = 0;
      std::vector<int64_t> of_rank(static_cast<size_t>(ranks));
      for (size_t i = 0; i < shards.size(); ++i) {
        const ShardRange& shard = shards[i];
        EXPECT_EQ(shard.begin, at);
        EXPECT_GT(shard.end, shard.begin);
        EXPECT_EQ(shard.begin % kBlockElements, 0);
        const PlaneBytes most = SizeOfPlanes(total, shard, Precision::kExact, shard.end - shard.begin);
        EXPECT_LE(std::max(most.plane0, most.plane1), kMaxShardBytes);
        EXPECT_EQ(shard.index, static_cast<int>(i));
        EXPECT_EQ(shard.count, static_cast<int>(shards.size()));
        ASSERT_LT(shard.owner, ranks);
        EXPECT_GE(shard.owner, shards[i == 0 ? 0 : i - 1].owner);
        of_rank[static_cast<size_t>(shard.owner)] += shard.end - shard.begin;
        at = shard.end;
      }
      EXPECT_EQ(at, total);
      const int64_t per_rank = static_cast<int64_t>(shards.size()) / ranks + 1;
      const auto [least, most] = std::minmax_element(of_rank.begin(), of_rank.end());
      EXPECT_LE(*most - *least, (per_rank + 1) * kBlockElements) << total << " over " << ranks;
    }
  }
}

// The client library for buckets sends a file in one request only if it is smaller than `kOnePart` bytes.
TEST(StateShardsTest, APlaneIsOneRequestUnlessThereWouldBeTooMany) {
  constexpr int64_t kOnePart = 10 << 20;
  const auto largest = [](int64_t total, int64_t exceptions_of) {
    int64_t bytes = 0;
    for (const ShardRange& shard : CutShards(total, 3)) {
      const PlaneBytes planes =
          SizeOfPlanes(total, shard, Precision::kExact, (shard.end - shard.begin) / exceptions_of);
      bytes = std::max({bytes, planes.plane0, planes.plane1});
    }
    return bytes;
  };
  EXPECT_LT(largest(kManyShards * kShardElements, 64), kOnePart);
  const int64_t more = kManyShards * kShardElements + 1;
  EXPECT_GT(largest(more, 64), kOnePart);
  EXPECT_LE(static_cast<int64_t>(CutShards(more, 1).size()), kManyShards);
}

}  // namespace
}  // namespace rekindle::checkpoint
