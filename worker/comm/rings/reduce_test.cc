#include "worker/comm/rings/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/layers/bfloat16.h"

namespace rekindle::comm {
namespace {

template <typename T>
std::vector<T> Reduced(const std::vector<T>& a, const std::vector<T>& b, DataType type, ReduceOp op) {
  std::vector<T> out(a.size());
  Reduce(out.data(), a.data(), b.data(), a.size(), type, op);
  return out;
}

TEST(Reduce, EveryLengthAroundTheVectorWidth) {
  for (size_t n = 0; n < 100; ++n) {
    std::vector<int64_t> a(n), b(n), sum(n), max(n);
    for (size_t i = 0; i < n; ++i) {
      a[i] = static_cast<int64_t>(i) * 7 - 50;
      b[i] = 100 - static_cast<int64_t>(i) * 3;
      sum[i] = a[i] + b[i];
      max[i] = std::max(a[i], b[i]);
    }
    EXPECT_EQ(Reduced(a, b, DataType::kInt64, ReduceOp::kSum), sum);
    EXPECT_EQ(Reduced(a, b, DataType::kInt64, ReduceOp::kMax), max);
  }
}

TEST(Reduce, IntegersWrap) {
  const std::vector<int64_t> most{std::numeric_limits<int64_t>::max()}, one{1};
  EXPECT_EQ(Reduced(most, one, DataType::kInt64, ReduceOp::kSum)[0], std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Reduced<uint8_t>({250}, {10}, DataType::kUint8, ReduceOp::kSum)[0], 4);
  EXPECT_EQ(Reduced<uint8_t>({250}, {10}, DataType::kUint8, ReduceOp::kMax)[0], 250);
}

TEST(Reduce, MaximumKeepsNaN) {
  const float nan = std::nanf("");
  const auto max = Reduced<float>({nan, 1, -1, 2}, {1, nan, -2, 3}, DataType::kFloat32, ReduceOp::kMax);
  EXPECT_TRUE(std::isnan(max[0]));
  EXPECT_TRUE(std::isnan(max[1]));
  EXPECT_EQ(max[2], -1);
  EXPECT_EQ(max[3], 3);
}

TEST(Reduce, SixteenBitsAreSummedInFloatAndRoundedToEven) {
  const std::vector<float> a{1, 256, 257, -3.5f, 1e38f, std::nanf("")}, b{2, 1, 1, 3.5f, 3e38f, 1};
  std::vector<uint16_t> x(a.size()), y(a.size());
  kernels::ToBfloat16(a.data(), static_cast<int64_t>(a.size()), x.data());
  kernels::ToBfloat16(b.data(), static_cast<int64_t>(b.size()), y.data());
  const std::vector<uint16_t> sums = Reduced(x, y, DataType::kBfloat16, ReduceOp::kSum);
  std::vector<float> sum(sums.size());
  kernels::FromBfloat16(sums.data(), static_cast<int64_t>(sums.size()), sum.data());
  EXPECT_EQ(sum[0], 3);
  // The exact sum 257 is halfway between the bfloat16 values 256 and 258, and is rounded to 256.
  EXPECT_EQ(sum[1], 256);
  // The operand 257 was rounded to the bfloat16 value 256 before the sum.
  EXPECT_EQ(sum[2], 256);
  EXPECT_EQ(sum[3], 0);
  EXPECT_TRUE(std::isinf(sum[4]));
  EXPECT_TRUE(std::isnan(sum[5]));
  EXPECT_EQ(Reduced(x, y, DataType::kBfloat16, ReduceOp::kMax)[1], x[1]);
}

TEST(Reduce, InPlaceOnEitherOperand) {
  std::vector<float> a(1000), b(1000), sum(1000);
  for (size_t i = 0; i < a.size(); ++i) sum[i] = (a[i] = 0.1f * i) + (b[i] = 3.0f / (i + 1));
  std::vector<float> left = a, right = b;
  Reduce(left.data(), left.data(), b.data(), a.size(), DataType::kFloat32, ReduceOp::kSum);
  Reduce(right.data(), a.data(), right.data(), a.size(), DataType::kFloat32, ReduceOp::kSum);
  EXPECT_EQ(left, sum);
  EXPECT_EQ(right, sum);
}

}  // namespace
}  // namespace rekindle::comm
