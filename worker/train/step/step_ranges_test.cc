#include "worker/train/step/step_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace rekindle::train {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// `kSecond` is the time of a micro-batch, in seconds, on a rank with speed 1.
constexpr double kSecond = 0.01;

// Simulates ranks that compute what their ranges say, and records how the ranges change.
class Played {
 public:
  explicit Played(std::vector<int> sizes, double noise = 0) : noise_(noise) {
    std::vector<StepRange> ranges;
    for (const int size : sizes) {
      const int begin = ranges.empty() ? 0 : ranges.back().end;
      ranges.push_back({begin, begin + size});
    }
    ranges_ = StepRanges(ranges);
    ranks_ = static_cast<int>(sizes.size());
  }

  // Makes `steps` steps. `slower` says for each rank by which factor it is slower than a rank with speed 1. Returns the
  // number of steps until the last change of the ranges, or -1 if they did not change.
  int Steps(int steps, const std::vector<double>& slower) {
    int last = -1;
    for (int step = 0; step < steps; ++step) {
      std::vector<StepCost> costs;
      for (int rank = 0; rank < ranks_; ++rank) {
        const int size = ranges_.of(rank).size();
        const double factor = std::uniform_real_distribution<double>(1 - noise_, 1 + noise_)(random_);
        costs.push_back(
            {.micro_batches = size, .compute_seconds = kSecond * slower[static_cast<size_t>(rank)] * factor * size});
      }
      if (auto recut = ranges_.Add(costs)) {
        recuts_.push_back(*recut);
        last = step + 1;
      }
    }
    return last;
  }
  std::vector<int> sizes() const {
    std::vector<int> sizes;
    for (int rank = 0; rank < ranks_; ++rank) sizes.push_back(ranges_.of(rank).size());
    return sizes;
  }
  const std::vector<StepRanges::Recut>& recuts() const { return recuts_; }
  StepRanges& ranges() { return ranges_; }

 private:
  StepRanges ranges_{{{0, 1}}};
  int ranks_ = 0;
  const double noise_;
  std::mt19937 random_{11};
  std::vector<StepRanges::Recut> recuts_;
};

TEST(StepRangesTest, ASlowedRankGetsItsShareWithinTenSteps) {
  Played played({8, 8});
  EXPECT_EQ(played.Steps(50, {1, 1}), -1);
  EXPECT_THAT(played.Steps(10, {1, 3}), testing::AllOf(testing::Gt(0), testing::Le(10)));
  EXPECT_THAT(played.sizes(), ElementsAre(12, 4));
  EXPECT_EQ(played.ranges().of(1), (StepRange{12, 16}));
  ASSERT_THAT(played.recuts(), SizeIs(1));
  const StepRanges::Recut& recut = played.recuts().front();
  EXPECT_THAT(recut.before, ElementsAre(8, 8));
  EXPECT_THAT(recut.after, ElementsAre(12, 4));
  EXPECT_DOUBLE_EQ(recut.seconds_before, 8 * 3 * kSecond);
  EXPECT_DOUBLE_EQ(recut.seconds_after, 12 * kSecond);
  EXPECT_DOUBLE_EQ(played.ranges().seconds_saved(), 12 * kSecond);
  // When the ranks are equally fast again, the ranges go back to equal shares.
  EXPECT_LE(played.Steps(10, {1, 1}), 10);
  EXPECT_EQ(played.ranges().seconds_saved(), 0);
  EXPECT_THAT(played.sizes(), ElementsAre(8, 8));
}

TEST(StepRangesTest, NoiseDoesNotKeepItFromAdapting) {
  for (const double noise : {0.2, 0.3}) {
    Played played({8, 8, 8, 8}, noise);
    EXPECT_EQ(played.Steps(200, {1, 1, 1, 1}), -1);
    played.Steps(10, {1, 1, 3, 1});
    EXPECT_THAT(played.sizes()[2], testing::AllOf(testing::Ge(2), testing::Le(4))) << noise;
    EXPECT_LE(played.recuts().size(), 2u);
  }
}

TEST(StepRangesTest, DoesNotFlapUnderNoise) {
  for (const double noise : {0.2, 0.3}) {
    Played equal({8, 8, 8, 8}, noise), uneven({12, 4}, noise);
    EXPECT_EQ(equal.Steps(5000, {1, 1, 1, 1}), -1) << noise;
    uneven.Steps(5000, {1, 3});
    EXPECT_LE(uneven.recuts().size(), 2u) << noise;
  }
}

TEST(StepRangesTest, OneSlowStepChangesNothing) {
  Played played({8, 8});
  for (int round = 0; round < 30; ++round) {
    EXPECT_EQ(played.Steps(1, {1, 20}), -1);
    EXPECT_EQ(played.Steps(5, {1, 1}), -1);
  }
}

TEST(StepRangesTest, SmallGainsAreNotWorthIt) {
  Played slower({8, 8}), tiny({8, 8});
  EXPECT_EQ(slower.Steps(100, {1, 1.1}), -1);
  // The ranks of `tiny` need only 0.01 ms and 0.03 ms for a micro-batch. Even the best ranges would save them only 0.12
  // ms a step, so their ranges do not change.
  EXPECT_EQ(tiny.Steps(100, {0.001, 0.003}), -1);
}

// A rank keeps at least one micro-batch, so that it is still measured, however slow it is.
TEST(StepRangesTest, NobodyIsLeftWithoutAny) {
  Played played({4, 4});
  played.Steps(10, {1, 100});
  EXPECT_THAT(played.sizes(), ElementsAre(7, 1));
  played.Steps(10, {1, 1});
  EXPECT_THAT(played.sizes(), ElementsAre(4, 4));
}

TEST(StepRangesTest, WaitingForDataCountsToo) {
  Played played({8, 8});
  for (int i = 0; i < 5; ++i) {
    played.ranges().Add(std::vector<StepCost>{{.micro_batches = 8, .compute_seconds = 0.08},
                                              {.micro_batches = 8, .data_seconds = 0.16, .compute_seconds = 0.08}});
  }
  EXPECT_THAT(played.sizes(), ElementsAre(12, 4));
  EXPECT_DOUBLE_EQ(played.ranges().seconds(1), 0.03);
}

TEST(StepRangesTest, WhoComputedNothingIsNotMeasured) {
  Played played({8, 8});
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(played.ranges().Add(std::vector<StepCost>{{.micro_batches = 8, .compute_seconds = 1}, {}}));
  }
  EXPECT_EQ(played.ranges().seconds(0), 0.125);
  EXPECT_EQ(played.ranges().seconds(1), 0);
}

}  // namespace
}  // namespace rekindle::train
