#include "worker/numeric/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace rekindle::models {
namespace {

std::vector<float> Normal(uint64_t key, size_t size, double deviation = 1) {
  std::vector<float> values(size);
  FillNormal(key, deviation, values);
  return values;
}

TEST(RandomTest, NormalHasTheRightMoments) {
  std::vector<float> values = Normal(RandomKeyOf({1, NameWord("tok.weight")}), 1'000'000);
  double sum = 0, squares = 0, cubes = 0, fourths = 0, neighbours = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double v = values[i];
    sum += v;
    squares += v * v;
    cubes += v * v * v;
    fourths += v * v * v * v;
    neighbours += v * values[(i + 1) % values.size()];
  }
  double n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, 0, 0.004);
  EXPECT_NEAR(squares / n, 1, 0.006);
  EXPECT_NEAR(cubes / n, 0, 0.016);
  EXPECT_NEAR(fourths / n, 3, 0.04);
  EXPECT_NEAR(neighbours / n, 0, 0.004);
}

// Computes the Kolmogorov-Smirnov distance between the samples of FillNormal and the normal distribution. For a correct
// generator the distance exceeds 1.95 / sqrt(n) for one key in a thousand.
TEST(RandomTest, NormalHasTheRightShape) {
  std::vector<float> values = Normal(RandomKeyOf({2}), 100'000);
  std::sort(values.begin(), values.end());
  double distance = 0, n = static_cast<double>(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    double cumulative = 0.5 * std::erfc(-values[i] / std::sqrt(2.0));
    distance = std::max(distance, std::abs(cumulative - (static_cast<double>(i) + 0.5) / n));
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(n));
}

// The initial weights come from FillNormal and are part of a run's result, so the bits of its values may never change.
TEST(RandomTest, NormalIsFixedForEver) {
  std::vector<float> values = Normal(RandomKeyOf({1234, NameWord("tok.weight")}), 5, 0.02);
  EXPECT_EQ(values,
            (std::vector<float>{0x1.fa4bdep-10f, -0x1.059144p-5f, -0x1.2c03cep-12f, 0x1.3dac86p-8f, -0x1.fd597ap-8f}));
}

TEST(RandomTest, AShorterStreamIsAPrefix) {
  std::vector<float> a = Normal(7, 101), b = Normal(7, 64);
  EXPECT_TRUE(std::equal(b.begin(), b.end(), a.begin()));
}

TEST(RandomTest, KeysDependOnEveryWordAndTheirOrder) {
  EXPECT_NE(RandomKeyOf({1, 2}), RandomKeyOf({2, 1}));
  EXPECT_NE(RandomKeyOf({1}), RandomKeyOf({1, 0}));
  EXPECT_NE(RandomKeyOf({0}), RandomKeyOf({0, 0}));
  EXPECT_NE(NameWord("ln1.weight"), NameWord("ln2.weight"));
  EXPECT_EQ(NameWord(""), 0xCBF29CE484222325u);
}

}  // namespace
}  // namespace rekindle::models
