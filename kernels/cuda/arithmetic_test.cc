// Compares what the CUDA kernels compute for each element, compiled for the CPU, with the CPU's kernels. (The kernels
// for accumulation, AdamW and 16-bit planes are left out, because CPU and GPU share their functions for an element.)
// scripts/gpu-check tests whether a device gives the same bits.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/cuda/layers/layer_norm_order.h"
#include "kernels/layers/gelu.h"
#include "kernels/layers/layer_norm.h"
#include "kernels/vector/bfloat16_element.h"
#include "kernels/vector/half_element.h"
#include "kernels/vector/scalar_math.h"
#include "kernels/vector/vector_math.h"

namespace rekindle::cuda {
namespace {

uint32_t Bits(float x) { return std::bit_cast<uint32_t>(x); }

// Calls `body` with bit patterns of all magnitudes and both signs, including NaN and infinity. They are picked from all
// 32-bit patterns in steps of a prime number.
template <typename Body>
void EachPattern(Body body) {
  for (uint64_t pattern = 0; pattern < uint64_t{1} << 32; pattern += 1009) {
    body(std::bit_cast<float>(static_cast<uint32_t>(pattern)));
  }
  for (const float x : {0.0f, -0.0f, 1.0f, 65504.0f, 65519.996f, 65520.0f, 0x1p-14f, 0x1p-24f, 0x1p-25f, 0x1.8p-25f,
                        std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    body(x);
  }
}

TEST(CudaArithmetic, ExpHasTheBitsOfTheVectors) {
  EachPattern(
      [](float x) { ASSERT_EQ(Bits(kernels::scalar::Exp(x)), Bits(kernels::Exp(kernels::Floats{} + x)[0])) << x; });
}

TEST(CudaArithmetic, GeluHasTheBitsOfTheCpuKernel) {
  EachPattern([](float x) {
    float out, slope;
    kernels::GeluForward(&x, 1, &out, &slope);
    const kernels::scalar::ValueAndSlope one = kernels::scalar::Gelu(x);
    ASSERT_TRUE(Bits(one.value) == Bits(out) || (std::isnan(one.value) && std::isnan(out))) << x;
    ASSERT_EQ(Bits(one.slope), Bits(slope)) << x;
  });
}

TEST(CudaArithmetic, SixteenBitsAreTheCompilers) {
  EachPattern([](float x) {
    const auto fp16 = std::bit_cast<uint16_t>(static_cast<_Float16>(x));
    if (std::isnan(x)) {
      ASSERT_EQ(kernels::ToFp16(x) & 0x7e00, 0x7e00) << Bits(x);
      ASSERT_EQ(common::ToBf16(x) & 0x7fc0, 0x7fc0) << Bits(x);
      return;
    }
    ASSERT_EQ(kernels::ToFp16(x), fp16) << x;
    // ToBf16 returns the nearer one of the two bfloat16 values around x. Ties go to the even one.
    const uint32_t low = Bits(x) & 0xffff0000, rest = Bits(x) & 0xffff;
    const bool up = rest > 0x8000 || (rest == 0x8000 && (low >> 16 & 1) != 0);
    ASSERT_EQ(common::ToBf16(x), (low >> 16) + up) << x;
  });
}

// The GPU's order of summation over rows gives the same sums as the CPU's order, up to rounding.
TEST(CudaArithmetic, ColumnsOfLayerNormAreTheSameSums) {
  constexpr int64_t kRows = 301, kWidth = 21;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(kRows * kWidth), dy(kRows * kWidth), y(kRows * kWidth), weight(kWidth, 1), bias(kWidth, 0);
  for (float& v : x) v = normal(random);
  for (float& v : dy) v = normal(random);
  std::vector<float> mean(kRows), inverse(kRows), dx(kRows * kWidth), dweight(kWidth), dbias(kWidth);
  kernels::LayerNormForward(x.data(), kRows, kWidth, weight.data(), bias.data(), 1e-5f, y.data(), mean.data(),
                            inverse.data());
  kernels::LayerNormBackward(dy.data(), x.data(), mean.data(), inverse.data(), kRows, kWidth, weight.data(), dx.data(),
                             dweight.data(), dbias.data());
  for (int64_t column = 0; column < kWidth; ++column) {
    const float of_bias = SumOverRows(kRows, [&](int64_t r) { return dy[r * kWidth + column]; });
    const float of_weight = SumOverRows(
        kRows, [&](int64_t r) { return dy[r * kWidth + column] * ((x[r * kWidth + column] - mean[r]) * inverse[r]); });
    EXPECT_NEAR(of_bias, dbias[column], 1e-4);
    EXPECT_NEAR(of_weight, dweight[column], 1e-4);
  }
  EXPECT_EQ(LayerNormScratch(kRows, kWidth), size_t{2 * 3 * kWidth});
}

// The expected value is the sum of ten rows, written out in the order in which the GPU sums over rows.
TEST(CudaArithmetic, OrderOverRows) {
  const float v[] = {1e8f, 3, 5, 7, 11, 13, 17, 19, 23, 29};
  const float expected = (((v[0] + v[8]) + v[4]) + (v[2] + v[6])) + (((v[1] + v[9]) + v[5]) + (v[3] + v[7]));
  EXPECT_EQ(SumOverRows(10, [&](int64_t r) { return v[r]; }), expected);
}

}  // namespace
}  // namespace rekindle::cuda
