#include "common/agreed/shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace rekindle::common {
namespace {

using testing::ElementsAre;

double Slowest(const std::vector<int>& shares, const std::vector<double>& seconds) {
  double slowest = 0;
  for (size_t i = 0; i < shares.size(); ++i) slowest = std::max(slowest, shares[i] * seconds[i]);
  return slowest;
}

TEST(CutShares, FollowsSpeed) {
  EXPECT_THAT(CutShares({1, 1, 1}, 6), ElementsAre(2, 2, 2));
  // When 8 pieces are dealt to 3 equal workers, the first workers get the remainder.
  EXPECT_THAT(CutShares({1, 1, 1}, 8), ElementsAre(3, 3, 2));
  EXPECT_THAT(CutShares({1, 1, 2}, 10), ElementsAre(4, 4, 2));
  EXPECT_THAT(CutShares({1, 3}, 16), ElementsAre(12, 4));
}

TEST(CutShares, GivesEverybodyAtLeastOne) {
  EXPECT_THAT(CutShares({0.001, 5, 5}, 3), ElementsAre(1, 1, 1));
  EXPECT_THAT(CutShares({0.001, 5, 5}, 8), ElementsAre(6, 1, 1));
}

// One worker takes 0.27 seconds for a piece and the other 1.1 seconds. With 7 and 1 pieces they are done after 1.89
// seconds. The largest-remainder method would give them 6 and 2 pieces, and the second worker would take 2.2 seconds.
TEST(CutShares, RoundsForTheSlowest) { EXPECT_THAT(CutShares({0.27, 1.1}, 8), ElementsAre(7, 1)); }

TEST(CutShares, NoOtherCutIsFaster) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const int pieces = 3 + static_cast<int>(random() % 20);
    std::vector<double> seconds;
    for (int i = 0; i < 3; ++i) seconds.push_back(0.01 + static_cast<double>(random() % 1000));
    double best = 1e300;
    for (int a = 1; a <= pieces - 2; ++a) {
      for (int b = 1; a + b <= pieces - 1; ++b) best = std::min(best, Slowest({a, b, pieces - a - b}, seconds));
    }
    ASSERT_DOUBLE_EQ(Slowest(CutShares(seconds, pieces), seconds), best);
  }
}

}  // namespace
}  // namespace rekindle::common
