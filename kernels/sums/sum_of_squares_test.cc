#include "kernels/sums/sum_of_squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace rekindle::kernels {
namespace {

// Computes the sum of squares in the documented order, one addition at a time.
template <typename T>
double Plain(const std::vector<T>& x) {
  double lanes[8] = {};
  for (size_t i = 0; i < x.size(); ++i) {
    const double value = static_cast<double>(x[i]);
    const double square = value * value;
    lanes[i % 8] = lanes[i % 8] + square;
  }
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

TEST(SumOfSquaresTest, SameBitsAsThePlainOrder) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  for (int n : {0, 1, 7, 8, 9, 64, 1003, 65536}) {
    std::vector<float> x(n);
    std::vector<int64_t> q(n);
    for (int i = 0; i < n; ++i) x[i] = normal(random), q[i] = static_cast<int64_t>(random()) >> (random() % 63);
    EXPECT_EQ(SumOfSquares(x.data(), n), Plain(x)) << n;
    EXPECT_EQ(SumOfSquares(q.data(), n), Plain(q)) << n;
  }
}

TEST(SumOfSquaresTest, FiniteExactlyWhenTheValuesAre) {
  std::vector<float> x(1000, std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isfinite(SumOfSquares(x.data(), 1000)));
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    for (int at : {0, 500, 999}) {
      std::vector<float> y = x;
      y[at] = bad;
      EXPECT_FALSE(std::isfinite(SumOfSquares(y.data(), 1000)));
    }
  }
}

}  // namespace
}  // namespace rekindle::kernels
