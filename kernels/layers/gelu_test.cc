#include "kernels/layers/gelu.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/vector/vector_math.h"

namespace rekindle::kernels {
namespace {

struct Point {
  double value, slope;
};

Point Reference(double x) {
  double c = std::sqrt(2 / M_PI), t = std::tanh(c * (x + 0.044715 * x * x * x));
  return {0.5 * x * (1 + t), 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x)};
}

float ExpOf(float x) { return Exp(Floats{} + x)[0]; }

TEST(ExpTest, IsAccurate) {
  for (float x = -87; x <= 88; x += 0.0037f) EXPECT_NEAR(ExpOf(x) / std::exp(double{x}), 1, 3e-7) << x;
  EXPECT_EQ(ExpOf(0), 1);
  EXPECT_GT(ExpOf(-1000), 0);
  EXPECT_LT(ExpOf(-1000), 2e-38f);
  EXPECT_TRUE(std::isfinite(ExpOf(1000)));
}

TEST(GeluTest, IsAccurate) {
  std::vector<float> x, out, slope;
  for (float v = -30; v < 30; v += 0.0013f) x.push_back(v);
  out.resize(x.size());
  slope.resize(x.size());
  GeluForward(x.data(), static_cast<int64_t>(x.size()), out.data(), slope.data());
  for (size_t i = 0; i < x.size(); ++i) {
    Point expected = Reference(x[i]);
    EXPECT_NEAR(out[i], expected.value, 1e-6 * (1 + std::abs(x[i]))) << x[i];
    EXPECT_NEAR(slope[i], expected.slope, 1e-6 * (1 + std::abs(x[i]))) << x[i];
  }
}

TEST(GeluTest, LimitsAndWhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float x[] = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 1e29f, -1e29f, 0.0f};
  float out[6], slope[6];
  GeluForward(x, 6, out, slope);
  EXPECT_EQ(out[0], kInfinity);
  EXPECT_EQ(out[1], -kInfinity);
  EXPECT_TRUE(std::isnan(out[2]));
  EXPECT_EQ(out[3], 1e29f);
  EXPECT_NEAR(out[4], 0, 1e-8);
  EXPECT_EQ(out[5], 0);
  EXPECT_EQ(slope[3], 1);
  EXPECT_NEAR(slope[4], 0, 1e-30);
  EXPECT_EQ(slope[5], 0.5f);
}

TEST(GeluTest, BackwardIsTheProduct) {
  std::vector<float> dy(37, 2), slope(37), dx(37);
  for (int i = 0; i < 37; ++i) slope[i] = static_cast<float>(i);
  GeluBackward(dy.data(), slope.data(), 37, dx.data());
  for (int i = 0; i < 37; ++i) EXPECT_EQ(dx[i], 2.0f * static_cast<float>(i));
}

// The bits of GELU may never change, on any instruction set. kernels_test runs this test with the code for the
// machine's instruction set, and kernels_portable_test with the code for plain x86-64.
TEST(GeluTest, BitsAreFixedForEver) {
  uint64_t hash = 14695981039346656037u;
  for (float x = -25; x < 25; x += 0.01f) {
    float out, slope;
    GeluForward(&x, 1, &out, &slope);
    for (float bits : {out, slope})
      // The hash is FNV-1a over 32-bit words.
      hash = (hash ^ std::bit_cast<uint32_t>(bits)) * 1099511628211u;
  }
  EXPECT_EQ(hash, 11435318344167464198u);
}

// An element gets the same bits whether the loop over vectors computes it or the code for the last elements.
TEST(GeluTest, BitsDoNotDependOnTheLength) {
  std::vector<float> x(100), out(100), slope(100), o(100), s(100);
  for (int i = 0; i < 100; ++i) x[i] = std::sin(static_cast<float>(i)) * 5;
  GeluForward(x.data(), 100, out.data(), slope.data());
  for (int i = 0; i < 100; ++i) GeluForward(&x[i], 1, &o[i], &s[i]);
  EXPECT_EQ(out, o);
  EXPECT_EQ(slope, s);
}

}  // namespace
}  // namespace rekindle::kernels
