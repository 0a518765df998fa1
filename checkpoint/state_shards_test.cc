#include "checkpoint/state_shards.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "checkpoint/testing.h"
#include "common/hash.h"

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
        EXPECT_LE(ShardBytes(total, shard), kMaxShardBytes);
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

TEST(StateShardsTest, AnyNumberOfWritersGivesTheSameState) {
  const int64_t total = 9 * kBlockElements + 4321;
  const TestState state = TestState::Random(total, 3);
  for (int ranks = 1; ranks <= 5; ++ranks) {
    TestState read(total);
    for (const ShardRange& range : CutShards(total, ranks)) {
      std::vector<uint8_t> shard(static_cast<size_t>(ShardBytes(total, range)));
      const auto hash = WriteShard(state.view(), range, shard);
      ASSERT_TRUE(hash.ok()) << hash.status();
      EXPECT_EQ(*hash, common::Xxh3_128Hex(shard.data(), shard.size()));
      const auto got = ReadShard(shard, read.writable());
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(got->begin, range.begin);
      EXPECT_EQ(got->end, range.end);
    }
    EXPECT_TRUE(read == state) << ranks;
  }
}

TEST(StateShardsTest, RefusesOtherStatesAndSizes) {
  const TestState state = TestState::Random(100, 1);
  const ShardRange range{.begin = 0, .end = 50, .index = 0, .count = 2};
  std::vector<uint8_t> shard(static_cast<size_t>(ShardBytes(100, range)));
  ASSERT_TRUE(WriteShard(state.view(), range, shard).ok());
  EXPECT_FALSE(WriteShard(state.view(), range, std::span(shard).first(shard.size() - 1)).ok());
  for (const auto& [begin, end] : {std::pair{-1, 50}, {50, 50}, {60, 50}, {50, 101}}) {
    EXPECT_FALSE(WriteShard(state.view(), {.begin = begin, .end = end}, shard).ok()) << begin << " " << end;
  }
  TestState larger(101);
  EXPECT_TRUE(absl::IsInvalidArgument(ReadShard(shard, larger.writable()).status()));
}

}  // namespace
}  // namespace rekindle::checkpoint
