#include "kernels/layers/bfloat16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/vector/bfloat16_element.h"

namespace rekindle::kernels {
namespace {

TEST(Bfloat16, EveryPatternComesBackAndEveryLengthIsWhole) {
  std::vector<uint16_t> all(1 << 16), back(all.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  std::vector<float> wide(all.size());
  FromBfloat16(all.data(), static_cast<int64_t>(all.size()), wide.data());
  ToBfloat16(wide.data(), static_cast<int64_t>(wide.size()), back.data());
  for (size_t i = 0; i < all.size(); ++i) {
    if (std::isnan(wide[i])) {
      EXPECT_EQ(back[i], all[i] | 0x40) << i;
    } else {
      EXPECT_EQ(back[i], all[i]) << i;
    }
  }
  for (int64_t n = 0; n < 70; ++n) {
    std::vector<uint16_t> some(static_cast<size_t>(n) + 1, 7);
    ToBfloat16(wide.data() + 0x3f80, n, some.data());
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(some[static_cast<size_t>(i)], 0x3f80 + i);
    EXPECT_EQ(some.back(), 7);
  }
}

TEST(Bfloat16, RoundsToTheNearestTiesToEven) {
  // `ulp` is one unit in the last place of 1 in bfloat16.
  const float ulp = 0x1p-7f;
  const std::vector<float> x = {1 + ulp / 2,  1 + ulp * 1.5f, 1 + ulp * 0.51f,
                                -1 - ulp / 2, 3.4e38f,        std::numeric_limits<float>::infinity()};
  std::vector<uint16_t> out(x.size());
  ToBfloat16(x.data(), static_cast<int64_t>(x.size()), out.data());
  EXPECT_EQ(common::FromBf16(out[0]), 1);
  EXPECT_EQ(common::FromBf16(out[1]), 1 + 2 * ulp);
  EXPECT_EQ(common::FromBf16(out[2]), 1 + ulp);
  EXPECT_EQ(common::FromBf16(out[3]), -1);
  EXPECT_TRUE(std::isinf(common::FromBf16(out[4])));
  EXPECT_TRUE(std::isinf(common::FromBf16(out[5])));
}

}  // namespace
}  // namespace rekindle::kernels
