#include "worker/train/state/shard_map.h"

#include <gtest/gtest.h>

#include <random>

namespace rekindle::train {
namespace {

constexpr int64_t kBlock = checkpoint::kBlockElements;

ElementSet SetOf(const std::vector<bool>& bits) {
  ElementSet set;
  for (size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) set = Union(set, {{static_cast<int64_t>(i), static_cast<int64_t>(i + 1)}});
  }
  return set;
}

int64_t CountOf(const ElementSet& set) {
  int64_t count = 0;
  for (const ElementRange& range : set) count += range.size();
  return count;
}

// Converts the blocks of a report back to a set. The last block of a state ends at `total` and may be shorter than the
// others.
ElementSet FromBlocks(const std::vector<int>& blocks, int64_t total) {
  ElementSet set;
  for (size_t i = 0; i + 1 < blocks.size(); i += 2) {
    set = Union(set, {{blocks[i] * kBlock, std::min(total, blocks[i + 1] * kBlock)}});
  }
  return set;
}

TEST(ShardMap, SetsAreThoseOfTheirElements) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<bool> a(20), b(20), any(20), rest(20);
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = random() % 2 == 0;
      b[i] = random() % 3 == 0;
      any[i] = a[i] || b[i];
      rest[i] = a[i] && !b[i];
    }
    EXPECT_EQ(Union(SetOf(a), SetOf(b)), SetOf(any));
    EXPECT_EQ(Subtract(SetOf(a), SetOf(b)), SetOf(rest));
    EXPECT_EQ(CountOf(SetOf(a)), std::count(a.begin(), a.end(), true));
  }
}

TEST(ShardMap, EveryShardIsHeldByItsTwoAndSavedByTheFirst) {
  for (int64_t total : {int64_t{5}, kBlock, 3 * kBlock + 1, 100 * kBlock - 7}) {
    for (int ranks = 1; ranks <= 5; ++ranks) {
      std::vector<ShardHolders> holders;
      for (int i = 0; i < ranks; ++i) holders.push_back({i, (i + 1) % ranks});
      const auto shards = CutState(total, holders);
      int64_t at = 0, held = 0;
      for (const StateShard& shard : shards) {
        EXPECT_TRUE(shard.range.size() == 0 || shard.range.begin == at);
        at = std::max(at, shard.range.end);
      }
      EXPECT_EQ(at, total);
      for (int rank = 0; rank < ranks; ++rank) {
        const ElementSet own = HeldBy(shards, rank);
        held += CountOf(own);
        EXPECT_EQ(FromBlocks(ToBlocks(own), total), own);
        for (const auto& file : checkpoint::ShardsOf(FilesOf(total, holders), rank)) {
          EXPECT_TRUE(Subtract({{file.begin, file.end}}, own).empty());
        }
      }
      EXPECT_EQ(held, total * std::min(ranks, 2));
    }
  }
}

TEST(ShardMap, ADealIsThatOfTheMembershipOrRefused) {
  Membership membership;
  membership.members.resize(3);
  EXPECT_FALSE(DealOf(membership, 0, 100 * kBlock).ok()) << "no shards";
  membership.shards = {{0, 1}, {1, 2}, {0, 2}};
  EXPECT_FALSE(DealOf(membership, 0, 100 * kBlock).ok()) << "rank 0 is twice the first holder";
  membership.shards = {{0, 1}, {1, 3}};
  EXPECT_FALSE(DealOf(membership, 0, 100 * kBlock).ok()) << "there is no rank 3";
  membership.shards = {{0, 1}, {1, 2}, {2, 0}};
  const auto deal = DealOf(membership, 1, 100 * kBlock);
  ASSERT_TRUE(deal.ok()) << deal.status();
  EXPECT_TRUE(deal->Holds(deal->shards[0]) && deal->Holds(deal->shards[1]) && !deal->Holds(deal->shards[2]));
  EXPECT_EQ(deal->wanted, HeldBy(deal->shards, 1));
}

TEST(ShardMap, PartsAreTheRangeInOrder) {
  EXPECT_EQ(PartsOf({10, 35}, 10), (std::vector<ElementRange>{{10, 20}, {20, 30}, {30, 35}}));
  EXPECT_TRUE(PartsOf({10, 10}, 10).empty());
}

TEST(ShardMap, MovesGiveEveryoneWhatItWantsFromWhoHasIt) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<ElementSet> has, wants;
    ElementSet anywhere;
    for (int rank = 0; rank < 4; ++rank) {
      std::vector<bool> a(16), b(16);
      for (size_t i = 0; i < a.size(); ++i) {
        a[i] = random() % 2 == 0;
        b[i] = random() % 2 == 0;
      }
      has.push_back(SetOf(a));
      wants.push_back(SetOf(b));
      anywhere = Union(anywhere, has.back());
    }
    ElementSet wanted;
    for (const ElementSet& set : wants) wanted = Union(wanted, set);
    std::vector<Move> moves;
    ASSERT_EQ(PlanMoves(has, wants, &moves), Subtract(wanted, anywhere).empty());
    if (!Subtract(wanted, anywhere).empty()) continue;
    std::vector<ElementSet> got = has;
    for (const Move& move : moves) {
      EXPECT_TRUE(Subtract({move.range}, has[static_cast<size_t>(move.from)]).empty());
      const ElementSet& before = got[static_cast<size_t>(move.to)];
      EXPECT_EQ(Subtract({move.range}, before), ElementSet{move.range}) << "sent twice";
      got[static_cast<size_t>(move.to)] = Union(got[static_cast<size_t>(move.to)], {move.range});
    }
    for (size_t rank = 0; rank < has.size(); ++rank) EXPECT_TRUE(Subtract(wants[rank], got[rank]).empty());
  }
}

TEST(ShardMap, SendersShareTheWork) {
  std::vector<Move> moves;
  ASSERT_TRUE(PlanMoves({{{0, 100}}, {{0, 100}}, {}, {}}, {{}, {}, {{0, 50}}, {{0, 50}}}, &moves));
  EXPECT_EQ(moves, (std::vector<Move>{{{0, 50}, 0, 2}, {{0, 50}, 1, 3}}));
}

}  // namespace
}  // namespace rekindle::train
