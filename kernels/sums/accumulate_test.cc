#include "kernels/sums/accumulate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace rekindle::kernels {
namespace {

TEST(AccumulateTest, AddsLikeThePlainLoop) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int n : {0, 1, 7, 8, 1001}) {
    std::vector<float> a(n), b(n), sum(n, std::numeric_limits<float>::quiet_NaN());
    float largest = 0;
    for (int i = 0; i < n; ++i) {
      a[i] = normal(random), b[i] = normal(random);
      largest = std::max({largest, std::abs(a[i]), std::abs(b[i])});
    }
    const float first = AccumulateFloat(a.data(), n, 0.25f, true, sum.data());
    EXPECT_EQ(std::max(first, AccumulateFloat(b.data(), n, 0.25f, false, sum.data())), largest);
    for (int i = 0; i < n; ++i) EXPECT_EQ(sum[i], a[i] * 0.25f + b[i] * 0.25f);
  }
}

TEST(AccumulateTest, ReportsNanAndInfinity) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    std::vector<float> gradient(19, -2.0f), sum(19);
    gradient[17] = bad;
    EXPECT_EQ(AccumulateFloat(gradient.data(), 19, 0.5f, true, sum.data()), std::numeric_limits<float>::infinity());
    EXPECT_EQ(AccumulateFloat(gradient.data(), 16, 0.5f, true, sum.data()), 2.0f);
  }
}

}  // namespace
}  // namespace rekindle::kernels
