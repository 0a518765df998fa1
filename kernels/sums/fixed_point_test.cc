#include "kernels/sums/fixed_point.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/sums/fixed_point_convert.h"

namespace rekindle::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Returns finite floats with exponents spread over [low, high], all mantissas, and both signs.
std::vector<float> SpreadFloats(int n, int low, int high, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> x(n);
  for (float& value : x) {
    const float mantissa = static_cast<float>((1u << 23) + random() % (1u << 23)) * 0x1p-23f;
    value = std::ldexp(random() % 2 ? mantissa : -mantissa, low + static_cast<int>(random() % (high - low + 1)));
  }
  return x;
}

int64_t PlainRound(double x) { return static_cast<int64_t>(std::nearbyint(x)); }

TEST(FixedPointTest, RoundsLikeNearbyint) {
  for (double x : {0.0,
                   -0.0,
                   0.25,
                   0.5,
                   0.75,
                   1.5,
                   2.5,
                   -0.5,
                   -1.5,
                   -2.5,
                   0x1p-1000,
                   0x1p25,
                   0x1p25 + 0.5,
                   0x1p25 + 1.5,
                   3 * 0x1p25 + 0.5,
                   0x1p26 - 0.5,
                   0x1p26 + 0.5,
                   0x1p51 - 0.5,
                   0x1p51 + 0.5,
                   0x1p51 + 1.5,
                   0x1p52 + 1,
                   0x1p53 - 1,
                   0x1p61,
                   0x1p62 - 0x1p9,
                   -0x1p62 + 0x1p9}) {
    EXPECT_EQ(static_cast<int64_t>(RoundToFixed(x)), PlainRound(x)) << x;
    EXPECT_EQ(static_cast<int64_t>(RoundToFixed(-x)), PlainRound(-x)) << -x;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const double x = std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -static_cast<int>(2 + i % 66));
    ASSERT_EQ(static_cast<int64_t>(RoundToFixed(x)), PlainRound(x)) << x;
  }
}

TEST(FixedPointTest, ConvertsBackLikeTheHardware) {
  for (int64_t q : {int64_t{0}, int64_t{1}, int64_t{-1}, (int64_t{1} << 53) + 1, -(int64_t{1} << 53) - 1, INT64_MAX,
                    INT64_MIN, int64_t{0xffffffff}, int64_t{-0xffffffff}, int64_t{1} << 32, (int64_t{1} << 54) + 2}) {
    EXPECT_EQ(FixedToDouble(q), static_cast<double>(q)) << q;
  }
  std::mt19937_64 random(2);
  for (int i = 0; i < 200000; ++i) {
    const int64_t q = static_cast<int64_t>(random()) >> (i % 63);
    ASSERT_EQ(FixedToDouble(q), static_cast<double>(q)) << q;
  }
}

TEST(FixedPointTest, AccumulatesLikeThePlainLoop) {
  for (int n : {0, 1, 7, 8, 9, 1000, 4099}) {
    for (int exponent : {-90, -3, 0, 30, 52, 180}) {
      const std::vector<float> a = SpreadFloats(n, std::max(-126, -exponent - 4), std::min(127, 59 - exponent), 3);
      const std::vector<float> b = SpreadFloats(n, std::max(-126, -exponent - 4), std::min(127, 59 - exponent), 4);
      // With `first`, AccumulateFixed must not read the old sum.
      std::vector<int64_t> sum(n, INT64_MAX);
      float largest = 0;
      const float first_max = AccumulateFixed(a.data(), n, exponent, true, sum.data());
      const float second_max = AccumulateFixed(b.data(), n, exponent, false, sum.data());
      for (int i = 0; i < n; ++i) {
        ASSERT_EQ(sum[i],
                  PlainRound(std::ldexp(double{a[i]}, exponent)) + PlainRound(std::ldexp(double{b[i]}, exponent)))
            << "element " << i << " of " << n << ", exponent " << exponent;
        largest = std::max({largest, std::abs(a[i]), std::abs(b[i])});
      }
      EXPECT_EQ(std::max(first_max, second_max), largest);
    }
  }
}

TEST(FixedPointTest, TiniestFloatsCount) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  int64_t sum = 0;
  EXPECT_EQ(AccumulateFixed(&tiny, 1, 150, true, &sum), tiny);
  EXPECT_EQ(sum, 2);
}

TEST(FixedPointTest, ReportsNanAndInfinityWhereverTheyAre) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(), kInfinity,
                    -kInfinity, std::numeric_limits<float>::signaling_NaN()}) {
    for (int at = 0; at < 37; ++at) {
      std::vector<float> gradient(37, 1.5f);
      gradient[at] = bad;
      std::vector<int64_t> sum(37);
      EXPECT_EQ(AccumulateFixed(gradient.data(), 37, 30, true, sum.data()), kInfinity);
      EXPECT_EQ(AccumulateFixed(gradient.data(), 37, 30, false, sum.data()), kInfinity);
    }
  }
}

TEST(FixedPointTest, OverflowIsDefinedAndVisibleInTheMaximum) {
  const std::vector<float> gradient(9, std::numeric_limits<float>::max());
  std::vector<int64_t> sum(9, INT64_MAX);
  EXPECT_EQ(AccumulateFixed(gradient.data(), 9, 250, false, sum.data()), std::numeric_limits<float>::max());
}

}  // namespace
}  // namespace rekindle::kernels
