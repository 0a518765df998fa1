#include "worker/train/arithmetic/exact_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels/sums/fixed_point.h"
#include "worker/contract/spec.h"

namespace rekindle::train {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(ExactScaleTest, LimitLeavesRoomForAllMicroBatches) {
  EXPECT_EQ(LimitLog2(1), 62);
  EXPECT_EQ(LimitLog2(2), 61);
  EXPECT_EQ(LimitLog2(3), 60);
  EXPECT_EQ(LimitLog2(4), 60);
  EXPECT_EQ(LimitLog2(5), 59);
  EXPECT_EQ(LimitLog2(kMaxMicroBatches), 46);
  for (int m = 1; m <= 5000; ++m) ASSERT_LE(std::ldexp(1.0, LimitLog2(m)) * m, 0x1p62) << m;
}

TEST(ExactScaleTest, OverflowBeginsJustAboveTheLimit) {
  // With exponent 30, a gradient of `limit` becomes the largest allowed integer for four micro-batches, 2^LimitLog2(4).
  const float limit = 0x1p30f;
  EXPECT_FALSE(Overflows(limit, 30, 4));
  EXPECT_TRUE(Overflows(std::nextafter(limit, kInfinity), 30, 4));
  EXPECT_TRUE(Overflows(limit, 31, 4));
  EXPECT_TRUE(Overflows(kInfinity, kMinExponent, 4));
  EXPECT_FALSE(Overflows(0, kMaxExponent, 4));
}

TEST(ExactScaleTest, ExponentLeavesTheHeadRoomForEveryMagnitude) {
  std::mt19937 random(1);
  for (int power = -149; power <= 127; ++power) {
    for (int m : {1, 4, 1000, kMaxMicroBatches}) {
      const float maximum = std::ldexp(1 + static_cast<float>(random() % 1000) / 1000, power);
      const int32_t exponent = ExponentFor(std::min(maximum, std::numeric_limits<float>::max()), m);
      EXPECT_GT(exponent, kMinExponent);
      EXPECT_LT(exponent, kMaxExponent);
      const double largest = std::ldexp(double{maximum}, exponent);
      EXPECT_LT(largest, std::ldexp(1.0, LimitLog2(m) - kHeadRoomLog2));
      EXPECT_GE(largest, std::ldexp(1.0, LimitLog2(m) - kHeadRoomLog2 - 1));
      EXPECT_FALSE(Overflows(std::ldexp(maximum, kHeadRoomLog2), exponent, m) && power + kHeadRoomLog2 < 127);
    }
  }
}

TEST(ExactScaleTest, TheWholeBatchAtTheLimitDoesNotWrap) {
  for (int m : {1, 3, 4, 1000}) {
    const float limit = std::ldexp(1.0f, LimitLog2(m) - 30);
    int64_t sum = 0;
    for (int i = 0; i < m; ++i) {
      ASSERT_EQ(kernels::AccumulateFixed(&limit, 1, 30, i == 0, &sum), limit);
    }
    EXPECT_EQ(sum, m * (int64_t{1} << LimitLog2(m)));
  }
}

TEST(ExactScaleTest, ZeroMaximumKeepsTheExponent) {
  const std::vector<int32_t> exponents{30, 52, -7};
  const std::vector<float> maxima{0, 1, 0};
  EXPECT_EQ(NextExponents(exponents, maxima, 4), (std::vector<int32_t>{30, ExponentFor(1, 4), -7}));
}

TEST(ExactScaleTest, OneRedoneAttemptIsEnough) {
  for (float maximum : {1.1f * 0x1p30f, 0x1p60f, std::numeric_limits<float>::max()}) {
    const std::vector<int32_t> exponents{30, 30, 30};
    const std::vector<float> maxima{1, maximum, 0};
    EXPECT_EQ(Overflowed(exponents, maxima, 4), std::vector<int>{1});
    const std::vector<int32_t> redo = RedoExponents(exponents, maxima, 4);
    EXPECT_EQ(redo[0], 30);
    EXPECT_LE(redo[1], 30 - 16);
    EXPECT_EQ(redo[2], 30);
    EXPECT_TRUE(Overflowed(redo, maxima, 4).empty());
  }
}

}  // namespace
}  // namespace rekindle::train
