#include "kernels/sums/running_mean.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace rekindle::kernels {
namespace {

TEST(RunningMean, MovesTowardsTheMeanOfTheSum) {
  std::vector<float> mean = {1, 0, -4};
  const std::vector<float> sum = {6, 0.5f, 8};
  MoveMean(sum.data(), 3, 2, 0.25, mean.data());
  EXPECT_EQ(mean, (std::vector<float>{1.5f, 0.0625f, -2}));
}

TEST(RunningMean, FixedPointHasTheBitsOfItsValueInDouble) {
  constexpr int kExponent = 37;
  const std::vector<int64_t> sum = {3'141'592'653'589'793, -7, 0, int64_t{1} << 60};
  std::vector<float> mean(sum.size(), 0.3f);
  MoveMean(sum.data(), std::ldexp(1.0, -kExponent), static_cast<int64_t>(sum.size()), 3, 0.1, mean.data());
  for (size_t i = 0; i < sum.size(); ++i) {
    const double value = std::ldexp(static_cast<double>(sum[i]), -kExponent);
    EXPECT_EQ(mean[i], static_cast<float>(0.3f + 0.1 * (value / 3 - 0.3f))) << i;
  }
}

TEST(RunningMean, ARateOfOneForgetsTheOldValueWhateverItWas) {
  constexpr float kLargest = std::numeric_limits<float>::max(), kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> before = {kLargest, -1e10f, kInfinity, 0.3f};
  std::vector<float> mean = before;
  const std::vector<float> sum = {3, 2.4691356f, 1, -0.2f};
  MoveMean(sum.data(), 4, 2, 1, mean.data());
  EXPECT_EQ(mean, (std::vector<float>{1.5f, 1.2345678f, 0.5f, -0.1f}));
  mean = before;
  const std::vector<int64_t> fixed = {3, 5, 1, -1};
  MoveMean(fixed.data(), 0.5, 4, 1, 1, mean.data());
  EXPECT_EQ(mean, (std::vector<float>{1.5f, 2.5f, 0.5f, -0.5f}));
}

}  // namespace
}  // namespace rekindle::kernels
