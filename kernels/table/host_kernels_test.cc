#include "kernels/table/host_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/sums/sum_of_squares.h"
#include "kernels/sums/word_hash.h"

namespace rekindle::kernels {
namespace {

template <typename Arguments>
void Call(RekindleKernel<Arguments> kernel, const Arguments& arguments) {
  ASSERT_EQ(kernel(&arguments, nullptr, nullptr, 0), 0);
}

TEST(HostKernels, AccumulateRaisesTheLargestMagnitude) {
  const std::vector<float> gradient = {1, -3, 2};
  std::vector<float> sum = {7, 7, 7};
  std::vector<int64_t> fixed(3);
  uint32_t largest = 0;
  Call(HostKernels().accumulate,
       {.gradient = gradient.data(), .n = 3, .first = 1, .sum = sum.data(), .factor = 2, .largest = &largest});
  EXPECT_EQ(sum, (std::vector<float>{2, -6, 4}));
  EXPECT_EQ(std::bit_cast<float>(largest), 3);
  Call(HostKernels().accumulate,
       {.gradient = gradient.data(), .n = 1, .first = 0, .sum = sum.data(), .factor = 2, .largest = &largest});
  EXPECT_EQ(sum[0], 4);
  EXPECT_EQ(std::bit_cast<float>(largest), 3) << "a smaller magnitude does not lower it";
  Call(HostKernels().accumulate,
       {.gradient = gradient.data(), .n = 3, .first = 1, .fixed = fixed.data(), .exponent = 4, .largest = &largest});
  EXPECT_EQ(fixed, (std::vector<int64_t>{16, -48, 32}));
  const float bad = std::numeric_limits<float>::quiet_NaN();
  Call(HostKernels().accumulate,
       {.gradient = &bad, .n = 1, .first = 0, .sum = sum.data(), .factor = 2, .largest = &largest});
  EXPECT_EQ(std::bit_cast<float>(largest), std::numeric_limits<float>::infinity());
}

TEST(HostKernels, SquaresAreThoseOfEachPiece) {
  std::vector<float> values(100);
  std::vector<int64_t> fixed(100);
  for (int i = 0; i < 100; ++i) {
    values[static_cast<size_t>(i)] = 0.1f * static_cast<float>(i);
    fixed[static_cast<size_t>(i)] = 1000 * i;
  }
  const std::vector<RekindlePiece> pieces = {{90, 10}, {3, 50}, {2, 0}};
  std::vector<double> squares(3, -1);
  Call(HostKernels().squares,
       {.values = values.data() + 2, .origin = 2, .pieces = pieces.data(), .n_pieces = 3, .squares = squares.data()});
  EXPECT_EQ(squares,
            (std::vector<double>{SumOfSquares(values.data() + 90, 10), SumOfSquares(values.data() + 3, 50), 0}));
  Call(HostKernels().squares,
       {.fixed = fixed.data(), .pieces = pieces.data(), .n_pieces = 3, .squares = squares.data()});
  EXPECT_EQ(squares, (std::vector<double>{SumOfSquares(fixed.data() + 90, 10), SumOfSquares(fixed.data() + 3, 50), 0}));
}

TEST(HostKernels, SixteenBitsAndBack) {
  const std::vector<float> values = {1, -0.5f, 1.00390625f, 3e38f};
  std::vector<uint16_t> bf16(4);
  std::vector<float> back(4);
  Call(HostKernels().to_bf16, {.values = values.data(), .n = 4, .bf16 = bf16.data()});
  EXPECT_EQ(bf16, (std::vector<uint16_t>{0x3f80, 0xbf00, 0x3f80, 0x7f62}));
  Call(HostKernels().from_bf16, {.bf16 = bf16.data(), .n = 4, .values = back.data()});
  EXPECT_EQ(back[1], -0.5f);
  EXPECT_EQ(back[2], 1);
}

TEST(HostKernels, HashAddsUp) {
  const std::vector<uint32_t> words = {1, 2, 3, 4};
  uint64_t hash = 0;
  Call(HostKernels().hash, {.words = words.data(), .n = 1, .hash = &hash, .first = 0});
  Call(HostKernels().hash, {.words = words.data() + 1, .n = 3, .hash = &hash, .first = 1});
  EXPECT_EQ(hash, HashOfWords(words.data(), 4));
}

TEST(HostKernels, PlanesAreSplitAndMergedBitForBit) {
  std::vector<float> x(3000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = (i % 2 == 0 ? 1.0f : -1.0f) / static_cast<float>(3 * i + 1);
  // These are two exceptions, because they are tiny beside the rest of their block, and two values that are not finite.
  x[5] = x[1500] = 1e-30f;
  x[6] = std::numeric_limits<float>::infinity();
  x[7] = std::numeric_limits<float>::quiet_NaN();
  std::vector<uint16_t> half(3000), high(3000), low(3000);
  std::vector<int16_t> residual(3000);
  std::vector<int8_t> exponent(3);
  std::vector<uint32_t> index(8), bits(8);
  uint32_t exceptions = 0;
  uint64_t nonfinite = 0;
  Call(HostKernels().split_half, {.x = x.data(),
                                  .n = x.size(),
                                  .half = half.data(),
                                  .exponent = exponent.data(),
                                  .residual = residual.data(),
                                  .index = index.data(),
                                  .bits = bits.data(),
                                  .capacity = 8,
                                  .exceptions = &exceptions,
                                  .nonfinite = &nonfinite});
  EXPECT_EQ(nonfinite, 2u);
  std::vector<float> merged(3000);
  Call(HostKernels().merge_half, {.half = half.data(),
                                  .exponent = exponent.data(),
                                  .residual = residual.data(),
                                  .n = x.size(),
                                  .x = merged.data()});
  ASSERT_LE(exceptions, 8u);
  ASSERT_GE(exceptions, 2u);
  for (uint32_t i = 0; i < exceptions; ++i) merged[index[i]] = std::bit_cast<float>(bits[i]);
  EXPECT_EQ(std::memcmp(merged.data(), x.data(), x.size() * sizeof(float)), 0);
  // Without residuals there are no exceptions.
  const uint32_t before = exceptions;
  Call(HostKernels().split_half,
       {.x = x.data(), .n = x.size(), .half = half.data(), .exponent = exponent.data(), .nonfinite = &nonfinite});
  EXPECT_EQ(exceptions, before);
  EXPECT_EQ(nonfinite, 4u);
  Call(HostKernels().split_bf16,
       {.x = x.data(), .n = x.size(), .high = high.data(), .low = low.data(), .nonfinite = &nonfinite});
  EXPECT_EQ(nonfinite, 6u);
  Call(HostKernels().merge_bf16, {.high = high.data(), .low = low.data(), .n = x.size(), .x = merged.data()});
  EXPECT_EQ(std::memcmp(merged.data(), x.data(), x.size() * sizeof(float)), 0);
}

TEST(HostKernels, RunningMean) {
  const std::vector<int64_t> fixed = {8, -16};
  std::vector<float> mean = {0, 1};
  Call(HostKernels().running_mean,
       {.fixed = fixed.data(), .unit = 0.25, .n = 2, .count = 2, .rate = 0.5, .mean = mean.data()});
  EXPECT_EQ(mean, (std::vector<float>{0.5f, -0.5f}));
}

// The update is tested in kernels/optimizers/update_test.cc.
TEST(HostKernels, UpdateRunsTheOptimizerThatIsNamed) {
  const float gradient = 2, old = 1, velocity = 0;
  float weight = 0;
  Call(HostKernels().update, {.optimizer = kRekindleSgd,
                              .learning_rate = 0.25,
                              .values = &gradient,
                              .scale = 0.5,
                              .n = 1,
                              .weights = &old,
                              .first_moment = &velocity,
                              .new_weights = &weight});
  EXPECT_EQ(weight, 0.75f);
}

}  // namespace
}  // namespace rekindle::kernels
