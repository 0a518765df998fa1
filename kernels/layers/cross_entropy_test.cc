#include "kernels/layers/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace rekindle::kernels {
namespace {

// Computes the loss and the gradient of softmax cross-entropy in double.
double Reference(const std::vector<float>& logits, int64_t classes, const std::vector<int64_t>& targets,
                 std::vector<double>* gradient) {
  double loss = 0;
  gradient->resize(logits.size());
  for (size_t r = 0; r < targets.size(); ++r) {
    const float* row = logits.data() + r * classes;
    double sum = 0, largest = *std::max_element(row, row + classes);
    for (int64_t i = 0; i < classes; ++i) sum += std::exp(row[i] - largest);
    loss += std::log(sum) + largest - row[targets[r]];
    for (int64_t i = 0; i < classes; ++i) {
      (*gradient)[r * classes + i] = std::exp(row[i] - largest) / sum - (i == targets[r] ? 1 : 0);
    }
  }
  return loss;
}

TEST(CrossEntropyTest, IsTheReferences) {
  std::mt19937 random(1);
  for (const int64_t classes : {1, 2, 15, 16, 17, 256, 1000}) {
    std::normal_distribution<float> normal(5, 20);
    std::vector<float> logits(7 * classes), gradient(logits.size());
    for (float& x : logits) x = normal(random);
    std::vector<int64_t> targets(7);
    for (int64_t& t : targets) t = static_cast<int64_t>(random() % classes);
    std::vector<double> expected;
    const double loss = Reference(logits, classes, targets, &expected);
    EXPECT_NEAR(CrossEntropy(logits.data(), 7, classes, targets.data(), gradient.data()), loss, 7e-5) << classes;
    for (size_t i = 0; i < gradient.size(); ++i) EXPECT_NEAR(gradient[i], expected[i], 1e-6) << classes;
  }
}

TEST(CrossEntropyTest, TheLossIsTheSameWithoutAGradientAndInPlace) {
  std::vector<float> logits = {1, 2, 3, -4, 0, 1e4f}, gradient(6);
  const std::vector<int64_t> targets = {2, 0};
  const double loss = CrossEntropy(logits.data(), 2, 3, targets.data(), gradient.data());
  EXPECT_EQ(CrossEntropy(logits.data(), 2, 3, targets.data(), nullptr), loss);
  EXPECT_EQ(CrossEntropy(logits.data(), 2, 3, targets.data(), logits.data()), loss);
  EXPECT_EQ(logits, gradient);
}

TEST(CrossEntropyTest, WhatIsNotFiniteIsSeen) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<int64_t> targets = {0};
  for (float bad : {kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    for (size_t at : {0u, 1u, 18u}) {
      std::vector<float> logits(19, 1.0f), gradient(19);
      logits[at] = bad;
      EXPECT_TRUE(std::isnan(CrossEntropy(logits.data(), 1, 19, targets.data(), gradient.data())));
      EXPECT_TRUE(std::isnan(gradient[0]));
    }
  }
}

}  // namespace
}  // namespace rekindle::kernels
