#include "coordinator/core/members/shard_holders.h"

#include <gtest/gtest.h>

#include <map>

namespace rekindle::core {
namespace {

using Holders = std::vector<std::pair<int, int>>;

TEST(ShardHolders, AreOnDifferentNodesAndShareTheBurden) {
  EXPECT_EQ(PairHolders({{"a", "", false}}), (Holders{{0, 0}}));
  EXPECT_EQ(PairHolders({{"a", "", false}, {"b", "", false}, {"c", "", false}}), (Holders{{0, 1}, {1, 2}, {2, 0}}));
  EXPECT_EQ(PairHolders({{"a", "", false}, {"a", "", false}, {"b", "", false}, {"b", "", false}}),
            (Holders{{0, 2}, {1, 3}, {2, 0}, {3, 1}}));
  // All members are on one node. A second holder of a shard in another process on that node is better than none.
  EXPECT_EQ(PairHolders({{"a", "", false}, {"a", "", false}}), (Holders{{0, 1}, {1, 0}}));
}

TEST(ShardHolders, AreInDifferentZonesWhereTheyAreKnown) {
  EXPECT_EQ(PairHolders({{"a", "z1", false}, {"b", "z1", false}, {"c", "z2", false}, {"d", "z2", false}}),
            (Holders{{0, 2}, {1, 3}, {2, 0}, {3, 1}}));
  EXPECT_EQ(PairHolders({{"a", "z1", false}, {"b", "", false}}), (Holders{{0, 1}, {1, 0}}));
}

TEST(ShardHolders, StayUnlessAllLeave) {
  EXPECT_EQ(PairHolders({{"a", "", true}, {"b", "", false}, {"c", "", false}}), (Holders{{1, 2}, {2, 1}}));
  EXPECT_EQ(PairHolders({{"a", "", true}, {"b", "", true}}), (Holders{{0, 1}, {1, 0}}));
}

TEST(ShardHolders, OneOfManyIsNeverOverburdened) {
  for (int nodes = 2; nodes <= 6; ++nodes) {
    for (int each = 1; each <= 4; ++each) {
      std::vector<Place> places;
      for (int i = 0; i < nodes * each; ++i) places.push_back({std::to_string(i / each), "", false});
      std::map<int, int> times;
      for (const auto& [first, second] : PairHolders(places)) {
        EXPECT_NE(places[first].node, places[second].node);
        EXPECT_LE(++times[second], 2) << nodes << " nodes of " << each;
      }
    }
  }
}

Candidate Holder(int step, std::vector<std::pair<int, int>> blocks, bool prepared = false, int total = 6) {
  Candidate candidate;
  candidate.live = true;
  candidate.step = step;
  candidate.total_blocks = total;
  candidate.blocks = std::move(blocks);
  candidate.prepared = prepared;
  return candidate;
}

TEST(ShardHolders, TheNewestStepThatIsThereAsAWholeIsTheBest) {
  EXPECT_EQ(FindBest({Holder(7, {{0, 3}}), Holder(7, {{3, 6}})})->step, 7);
  EXPECT_EQ(FindBest({Holder(7, {{0, 3}}), Holder(7, {{4, 6}})}), nullptr);
  EXPECT_EQ(FindBest({Holder(7, {{0, 3}}), Holder(7, {{3, 5}})}), nullptr);
  // One holder of shards has applied step 8. Where the other holder has prepared step 8, together they have all of that
  // step. Where it has not, they have no whole step, unless a third holder has the missing shards of step 7.
  EXPECT_EQ(FindBest({Holder(8, {{0, 4}}), Holder(7, {{2, 6}}, true)})->step, 8);
  EXPECT_EQ(FindBest({Holder(8, {{0, 4}}), Holder(7, {{2, 6}})}), nullptr);
  EXPECT_EQ(FindBest({Holder(8, {{0, 4}}), Holder(7, {{2, 6}}), Holder(7, {{0, 2}})})->step, 7);
  // Both holders of shards have prepared step 8, but neither has applied it, so nobody has the weights of that step.
  EXPECT_EQ(FindBest({Holder(7, {{0, 4}}, true), Holder(7, {{2, 6}}, true)})->step, 7);
  // Without shards each member has all of the state, so the newest step counts. With shards, a member that holds none
  // of them still has the weights of step 8, and the other member has prepared all moments of that step.
  EXPECT_EQ(FindBest({Holder(7, {}, false, 0), Holder(8, {}, false, 0)})->step, 8);
  EXPECT_EQ(FindBest({Holder(8, {}), Holder(7, {{0, 6}}, true)})->step, 8);
}

}  // namespace
}  // namespace rekindle::core
