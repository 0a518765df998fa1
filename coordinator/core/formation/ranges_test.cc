#include "coordinator/core/formation/ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace rekindle::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(FillUnknownSeconds, TakesTheMeanOfTheKnown) {
  EXPECT_THAT(FillUnknownSeconds({1, 0, 3}), ElementsAre(1, 2, 3));
  EXPECT_THAT(FillUnknownSeconds({0, std::numeric_limits<double>::quiet_NaN()}), ElementsAre(1, 1));
}

TEST(CutRanges, FollowsSpeed) {
  EXPECT_THAT(CutRanges({1, 1, 2}, 10), ElementsAre(Pair(0, 4), Pair(4, 8), Pair(8, 10)));
  EXPECT_THAT(CutRanges({1, 1, 1}, 8), ElementsAre(Pair(0, 3), Pair(3, 6), Pair(6, 8)));
}

TEST(MakeDisjoint, LetsTheLowerRankKeep) {
  std::vector<Holding> members = {{{3, 1, 1}, 5, 1}, {{1, 2, 99, -1}, 1, 1}};
  MakeDisjoint(members, 4);
  EXPECT_THAT(members[0].holds, ElementsAre(1, 3));
  EXPECT_EQ(members[0].computed, 2);
  EXPECT_THAT(members[1].holds, ElementsAre(2));
}

TEST(DealAdds, LetsAllFinishTogether) {
  // The first member still has two micro-batches to compute and the second has none, so that the second gets more.
  EXPECT_THAT(DealAdds({{{0, 1}, 0, 1}, {{2, 3}, 2, 1}}, 6), ElementsAre(IsEmpty(), ElementsAre(4, 5)));
  // The second member is four times slower than the first.
  EXPECT_THAT(DealAdds({{{}, 0, 1}, {{}, 0, 4}}, 5), ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4)));
}

TEST(Ranges, ArePartitionsWhateverTheSpeeds) {
  const auto seed = static_cast<unsigned>(20240611);
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const int n = 1 + static_cast<int>(random() % 9), micro_batches = n + static_cast<int>(random() % 40);
    std::vector<double> seconds;
    std::vector<Holding> members(n);
    for (int i = 0; i < n; ++i) {
      seconds.push_back(0.001 + static_cast<double>(random() % 1000));
      members[i].seconds = seconds.back();
      for (unsigned k = random() % 6; k > 0; --k) members[i].holds.push_back(static_cast<int>(random() % 60) - 5);
      members[i].computed = static_cast<int>(random() % 9);
    }
    int next = 0;
    for (const auto& [begin, end] : CutRanges(seconds, micro_batches)) {
      ASSERT_EQ(begin, next);
      ASSERT_GT(end, begin);
      next = end;
    }
    ASSERT_EQ(next, micro_batches);
    MakeDisjoint(members, micro_batches);
    std::vector<int> all;
    const auto adds = DealAdds(members, micro_batches);
    for (int i = 0; i < n; ++i) {
      all.insert(all.end(), members[i].holds.begin(), members[i].holds.end());
      all.insert(all.end(), adds[i].begin(), adds[i].end());
    }
    std::sort(all.begin(), all.end());
    ASSERT_EQ(static_cast<int>(all.size()), micro_batches);
    for (int i = 0; i < micro_batches; ++i) ASSERT_EQ(all[i], i);
  }
}

}  // namespace
}  // namespace rekindle::core
