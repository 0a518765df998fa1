#include "worker/train/arithmetic/gradient_buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

#include "worker/train/testing/testing_layout.h"

namespace rekindle::train {
namespace {

TEST(GradientBucketsTest, CoverEverythingOnceFromTheEnd) {
  const ParameterLayout layout = testing::MakeLayout({1000, 3, 5, 400, 1, 1, 90, 2000, 7});
  for (int64_t target : {1, 10, 100, 500, 100000}) {
    int64_t end = layout.total;
    int last = static_cast<int>(layout.parameters.size()) - 1;
    for (const GradientBucket& bucket : CutIntoBuckets(layout, target)) {
      EXPECT_EQ(bucket.offset + bucket.count, end);
      EXPECT_EQ(bucket.last_parameter, last);
      EXPECT_EQ(bucket.offset, layout.parameters[bucket.first_parameter].offset);
      EXPECT_TRUE(bucket.count >= target || bucket.offset == 0);
      end = bucket.offset;
      last = bucket.first_parameter - 1;
    }
    EXPECT_EQ(end, 0);
    EXPECT_EQ(last, -1);
  }
  EXPECT_TRUE(CutIntoBuckets({}, 10).empty());
}

TEST(GradientBucketsTest, AnnouncedInOrderAndOnlyWhenWhole) {
  const ParameterLayout layout = testing::MakeLayout({10, 10, 10, 10, 10, 10, 10, 10, 10});
  const std::vector<GradientBucket> buckets = CutIntoBuckets(layout, 20);
  ASSERT_EQ(buckets.size(), 5u);
  BucketReadiness readiness(&buckets);
  std::vector<int> order(9);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  for (int trial = 0; trial < 100; ++trial) {
    readiness.Reset();
    std::shuffle(order.begin(), order.end(), random);
    std::vector<bool> arrived(9);
    int announced = 0;
    for (int parameter : order) {
      EXPECT_FALSE(readiness.AllReady());
      arrived[parameter] = true;
      readiness.Arrived(parameter, [&](int bucket) {
        EXPECT_EQ(bucket, announced++);
        for (int p = buckets[bucket].first_parameter; p <= buckets[bucket].last_parameter; ++p) EXPECT_TRUE(arrived[p]);
      });
    }
    EXPECT_EQ(announced, 5);
    EXPECT_TRUE(readiness.AllReady());
  }
}

TEST(GradientBucketsTest, BackwardOrderAnnouncesEarly) {
  const ParameterLayout layout = testing::MakeLayout({10, 10, 10, 10});
  const std::vector<GradientBucket> buckets = CutIntoBuckets(layout, 10);
  BucketReadiness readiness(&buckets);
  for (int p = 3; p >= 0; --p) {
    int got = -1;
    readiness.Arrived(p, [&](int bucket) { got = bucket; });
    EXPECT_EQ(got, 3 - p);
  }
}

// Returns a layout of four parameters with two buffers behind them.
ParameterLayout WithBuffers(bool late) {
  ParameterLayout layout = testing::MakeLayout({10, 10, 10, 10, 3, 4});
  layout.parameters[4].momentum = layout.parameters[5].momentum = 1;
  layout.late_buffers = late;
  return layout;
}

TEST(GradientBucketsTest, LateBuffersAreInBucketsOfTheirOwnAfterAllOthers) {
  const std::vector<GradientBucket> buckets = CutIntoBuckets(WithBuffers(true), 20);
  ASSERT_EQ(buckets.size(), 3u);
  for (const auto& [bucket, offset, count] : {std::tuple{0, 20, 20}, {1, 0, 20}, {2, 40, 7}}) {
    EXPECT_EQ(buckets[bucket].offset, offset);
    EXPECT_EQ(buckets[bucket].count, count);
  }
  EXPECT_EQ(CutIntoBuckets(WithBuffers(false), 20).front().count, 27);
}

TEST(GradientBucketsTest, LateBuffersDoNotHoldUpTheGradients) {
  for (const bool late : {true, false}) {
    const std::vector<GradientBucket> buckets = CutIntoBuckets(WithBuffers(late), 10);
    BucketReadiness readiness(&buckets);
    std::vector<int> got;
    const auto ready = [&](int bucket) { got.push_back(bucket); };
    for (int p : {3, 2, 1, 0}) readiness.Arrived(p, ready);
    EXPECT_EQ(got, late ? (std::vector<int>{0, 1, 2, 3}) : (std::vector<int>{}));
    for (int p : {4, 5}) readiness.Arrived(p, ready);
    EXPECT_TRUE(readiness.AllReady());
  }
}

TEST(GradientBucketsTest, WhatIsMissingAtTheEndIsAnnouncedInOrder) {
  const ParameterLayout layout = testing::MakeLayout({10, 10, 10, 10});
  const std::vector<GradientBucket> buckets = CutIntoBuckets(layout, 10);
  BucketReadiness readiness(&buckets);
  std::vector<int> got;
  const auto ready = [&](int bucket) { got.push_back(bucket); };
  for (int p : {3, 1}) readiness.Arrived(p, ready);
  EXPECT_EQ(got, (std::vector<int>{0}));
  readiness.End(ready);
  readiness.End(ready);
  EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace rekindle::train
