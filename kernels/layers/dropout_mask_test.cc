#include "kernels/layers/dropout_mask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace rekindle::kernels {
namespace {

constexpr uint64_t kKey = 0x72656B696E646C65;

std::vector<float> MaskOf(double drop, size_t n) {
  std::vector<float> mask(n);
  FillDropoutMask(DropoutMaskOf(kKey, drop, n, mask.data()));
  return mask;
}

TEST(DropoutMask, DropsItsShareAndKeepsTheMean) {
  for (double drop : {0.0, 0.1, 0.5, 0.9}) {
    const std::vector<float> mask = MaskOf(drop, 200'001);
    double sum = 0;
    int64_t zeros = 0;
    for (float m : mask) {
      ASSERT_TRUE(m == 0 || m == static_cast<float>(1 / (1 - drop)));
      zeros += m == 0;
      sum += m;
    }
    const auto n = static_cast<double>(mask.size());
    EXPECT_NEAR(static_cast<double>(zeros) / n, drop, 0.005) << drop;
    EXPECT_NEAR(sum / n, 1, 0.02) << drop;
  }
}

TEST(DropoutMask, AnElementDependsOnItsPlaceAndNotOnTheSize) {
  const std::vector<float> all = MaskOf(0.5, 101);
  for (const size_t n : {size_t{0}, size_t{1}, size_t{2}, size_t{7}, size_t{100}}) {
    const std::vector<float> first = MaskOf(0.5, n);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin())) << n;
  }
  // These values must never change, because micro-batches that are computed again follow from them.
  EXPECT_EQ(MaskOf(0.5, 8), (std::vector<float>{0, 2, 2, 0, 0, 0, 2, 2}));
}

}  // namespace
}  // namespace rekindle::kernels
