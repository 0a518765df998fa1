#include "kernels/planes/plane_split.h"

#include <gtest/gtest.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/planes/plane_element.h"
#include "kernels/planes/plane_variants.h"

namespace rekindle::kernels {
namespace {

// Holds what one variant of the kernels (plain or AVX2) makes of an array of floats: the 16-bit planes that it cuts the
// array into, and the floats that it merges from them again.
struct Cut {
  std::vector<uint16_t> half, high, low;
  std::vector<int8_t> exponent;
  std::vector<int16_t> residual;
  std::vector<uint32_t> index, bits;
  int64_t nonfinite_half = 0, nonfinite_bf16 = 0;
  std::vector<uint32_t> rounded_half, rounded_bf16, exact_half, exact_bf16;

  bool operator==(const Cut&) const = default;
};

std::vector<uint32_t> Bits(const std::vector<float>& x) {
  std::vector<uint32_t> bits(x.size());
  if (!x.empty()) std::memcpy(bits.data(), x.data(), x.size() * sizeof(float));
  return bits;
}

Cut CutBy(const PlaneVariant& variant, const std::vector<uint32_t>& patterns) {
  const size_t n = patterns.size();
  const auto count = static_cast<int64_t>(n);
  std::vector<float> x(n), out(n);
  if (n > 0) std::memcpy(x.data(), patterns.data(), n * sizeof(float));
  const size_t blocks = (n + kPlaneBlock - 1) / kPlaneBlock;
  Cut cut;
  cut.half.resize(n), cut.high.resize(n), cut.low.resize(n), cut.residual.resize(n), cut.exponent.resize(blocks);
  cut.index.resize(n), cut.bits.resize(n);
  PlaneExceptions exceptions{.index = cut.index.data(), .bits = cut.bits.data(), .capacity = count};
  cut.nonfinite_half =
      variant.split_half(x.data(), count, cut.half.data(), cut.exponent.data(), cut.residual.data(), 7, &exceptions);
  cut.index.resize(static_cast<size_t>(exceptions.count)), cut.bits.resize(static_cast<size_t>(exceptions.count));
  EXPECT_EQ(CountExceptions(cut.residual.data(), count), exceptions.count);
  variant.merge_half(cut.half.data(), cut.exponent.data(), nullptr, count, out.data());
  cut.rounded_half = Bits(out);
  variant.merge_half(cut.half.data(), cut.exponent.data(), cut.residual.data(), count, out.data());
  cut.exact_half = Bits(out);
  for (size_t i = 0; i < cut.index.size(); ++i) {
    EXPECT_EQ(cut.residual[cut.index[i] - 7], kPlaneException);
    cut.exact_half[cut.index[i] - 7] = cut.bits[i];
  }
  cut.nonfinite_bf16 = variant.split_bf16(x.data(), count, cut.high.data(), cut.low.data());
  variant.merge_bf16(cut.high.data(), nullptr, count, out.data());
  cut.rounded_bf16 = Bits(out);
  variant.merge_bf16(cut.high.data(), cut.low.data(), count, out.data());
  cut.exact_bf16 = Bits(out);

  // Plane 0 does not depend on whether plane 1 is made as well.
  std::vector<uint16_t> alone(n);
  std::vector<int8_t> exponent(blocks);
  EXPECT_EQ(variant.split_half(x.data(), count, alone.data(), exponent.data(), nullptr, 0, nullptr),
            cut.nonfinite_half);
  EXPECT_EQ(alone, cut.half);
  EXPECT_EQ(exponent, cut.exponent);
  EXPECT_EQ(variant.split_bf16(x.data(), count, alone.data(), nullptr), cut.nonfinite_bf16);
  EXPECT_EQ(alone, cut.high);
  return cut;
}

// Expects that the planes restore the bit patterns exactly, and that every variant gives the same planes.
Cut Check(const std::vector<uint32_t>& patterns) {
  Cut plain = CutBy(PlainPlanes(), patterns);
  EXPECT_EQ(plain.exact_half, patterns);
  EXPECT_EQ(plain.exact_bf16, patterns);
  if (const PlaneVariant* avx2 = Avx2Planes()) {
    EXPECT_TRUE(CutBy(*avx2, patterns) == plain);
  }
  return plain;
}

constexpr uint32_t kEdges[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x33000000,
                               0x33000001, 0x38800000, 0x387fffff, 0x477fe000, 0x47800000, 0x7f7fffff, 0xff7fffff,
                               0x7f800000, 0xff800000, 0x7f800001, 0xff800001, 0x7fbfffff, 0x7fc00000, 0x7fffffff,
                               0xffffffff, 0xffff8000, 0x3f800000, 0x3f808000, 0x3f807fff, 0x3f801000, 0x3f803000};

TEST(PlaneSplitTest, EveryUpperHalfWithSomeLower) {
  std::vector<uint32_t> patterns;
  for (uint32_t low : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
    for (uint32_t high = 0; high < 65536; ++high) patterns.push_back(high << 16 | low);
  }
  Check(patterns);
  // After shuffling, each block has patterns of all magnitudes, so its exponent is near the largest possible one.
  std::shuffle(patterns.begin(), patterns.end(), std::mt19937(1));
  Check(patterns);
}

TEST(PlaneSplitTest, EveryLowerHalfWithSomeUpper) {
  std::vector<uint32_t> patterns;
  for (uint32_t high : {0x0000u, 0x8000u, 0x0080u, 0x3f80u, 0xbf7fu, 0x7f7fu, 0x7f80u, 0xff80u, 0x7fffu, 0xffffu}) {
    for (uint32_t low = 0; low < 65536; ++low) patterns.push_back(high << 16 | low);
  }
  Check(patterns);
  std::shuffle(patterns.begin(), patterns.end(), std::mt19937(1));
  Check(patterns);
}

TEST(PlaneSplitTest, EdgesBesideEachOther) {
  for (uint32_t beside : kEdges) {
    for (uint32_t edge : kEdges) {
      std::vector<uint32_t> patterns(37, beside);
      for (size_t i = 0; i < patterns.size(); i += 5) patterns[i] = edge + static_cast<uint32_t>(i / 5) - 3;
      Check(patterns);
    }
  }
}

TEST(PlaneSplitTest, EveryLength) {
  std::mt19937_64 random(2);
  std::vector<uint32_t> patterns;
  for (int n = 0; n <= 2100; ++n) {
    Check(patterns);
    patterns.push_back(static_cast<uint32_t>(random()));
  }
}

TEST(PlaneSplitTest, RandomPatternsAndScales) {
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  for (int round = 0; round < 60; ++round) {
    std::vector<uint32_t> patterns(8 * kPlaneBlock + 300);
    const int low = static_cast<int>(random() % 240) - 149, high = low + static_cast<int>(random() % 40);
    for (uint32_t& bits : patterns) {
      const int exponent = low + static_cast<int>(random() % static_cast<uint64_t>(high - low + 1));
      bits = round % 6 == 0 ? static_cast<uint32_t>(random()) : FloatBits(std::ldexp(normal(random), exponent));
    }
    Check(patterns);
  }
}

#ifdef __SSE__
TEST(PlaneSplitTest, TheThreadsRoundingAndDenormalModesChangeNothing) {
  std::mt19937_64 random(5);
  std::vector<uint32_t> patterns(6 * kPlaneBlock);
  // The test has blocks of all magnitudes, blocks of small values and blocks of denormals.
  for (size_t i = 0; i < patterns.size(); ++i) {
    const auto bits = static_cast<uint32_t>(random());
    patterns[i] = i < 2 * kPlaneBlock ? bits : i < 4 * kPlaneBlock ? bits & 0x8fffffff : bits & 0x807fffff;
  }
  const Cut expected = Check(patterns);
  const unsigned mode = _mm_getcsr();
  // The bits 0xe040 of the control register make SSE round toward zero and flush denormals in operands and results.
  _mm_setcsr(mode | 0xe040);
  const Cut got = Check(patterns);
  _mm_setcsr(mode);
  EXPECT_TRUE(got == expected);
}
#endif

TEST(PlaneSplitTest, OrdinaryWeightsHaveNoExceptionsAndRoundTo11Bits) {
  std::mt19937_64 random(4);
  std::normal_distribution<float> normal(0, 0.02f);
  std::vector<uint32_t> patterns(100 * kPlaneBlock);
  for (uint32_t& bits : patterns) bits = FloatBits(normal(random));
  const Cut cut = Check(patterns);
  EXPECT_TRUE(cut.index.empty());
  EXPECT_EQ(cut.nonfinite_half, 0);
  for (size_t i = 0; i < patterns.size(); ++i) {
    const double x = FloatFromBits(patterns[i]);
    ASSERT_LE(std::abs(FloatFromBits(cut.rounded_half[i]) - x), std::max(std::abs(x) * 0x1p-11, 0x1p-34)) << x;
    ASSERT_LE(std::abs(FloatFromBits(cut.rounded_bf16[i]) - x), std::abs(x) * 0x1p-8) << x;
  }
}

// The expected value of an element is its FP16 value times 2^exponent, computed in double as a reader in another
// language would compute it.
TEST(PlaneSplitTest, EveryHalfIsItsValueTimesThePowerOfTwo) {
  for (int exponent = kMinPlaneExponent; exponent <= kMaxPlaneExponent; ++exponent) {
    std::vector<uint16_t> half(kPlaneBlock);
    std::vector<float> plain(kPlaneBlock), chosen(kPlaneBlock);
    const auto e = static_cast<int8_t>(exponent);
    for (uint32_t begin = 0; begin < 65536; begin += kPlaneBlock) {
      for (uint32_t i = 0; i < kPlaneBlock; ++i) half[i] = static_cast<uint16_t>(begin + i);
      PlainPlanes().merge_half(half.data(), &e, nullptr, kPlaneBlock, plain.data());
      MergeHalf(half.data(), &e, nullptr, kPlaneBlock, chosen.data());
      ASSERT_EQ(Bits(plain), Bits(chosen)) << exponent << " " << begin;
      for (uint32_t i = 0; i < kPlaneBlock; ++i) {
        const int field = half[i] >> 10 & 31, fraction = half[i] & 1023;
        if (field == 31) {
          ASSERT_EQ(std::isnan(plain[i]), fraction != 0);
          continue;
        }
        const double value = field == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, field - 25);
        ASSERT_EQ(plain[i], static_cast<float>((half[i] & 0x8000 ? -1 : 1) * std::ldexp(value, exponent)));
      }
    }
  }
}

TEST(PlaneSplitTest, CountsWhatIsNotFinite) {
  std::vector<float> x(3 * kPlaneBlock + 5, 1.0f);
  for (size_t i : {size_t{0}, size_t{1023}, size_t{2048}, x.size() - 1}) x[i] = std::numeric_limits<float>::infinity();
  x[77] = -std::numeric_limits<float>::quiet_NaN();
  const Cut cut = Check(Bits(x));
  EXPECT_EQ(cut.nonfinite_half, 5);
  EXPECT_EQ(cut.nonfinite_bf16, 5);
  // NaN and infinity do not change their block's exponent, and plane 0 alone shows them.
  EXPECT_EQ(FloatFromBits(cut.rounded_half[1]), 1.0f);
  EXPECT_TRUE(std::isnan(FloatFromBits(cut.rounded_half[77])));
  EXPECT_TRUE(std::isinf(FloatFromBits(cut.rounded_half[0])));
}

TEST(PlaneSplitTest, ExceptionsBeyondTheCapacityAreCounted) {
  std::vector<float> x(200, std::ldexp(1.2345f, -60));
  x[0] = 1;
  std::vector<uint16_t> half(x.size());
  std::vector<int16_t> residual(x.size());
  std::vector<uint32_t> index(3), bits(3);
  int8_t exponent = 0;
  PlaneExceptions exceptions{.index = index.data(), .bits = bits.data(), .capacity = 2};
  SplitHalf(x.data(), 200, half.data(), &exponent, residual.data(), 0, &exceptions);
  EXPECT_EQ(exceptions.count, 199);
  EXPECT_EQ(index, (std::vector<uint32_t>{1, 2, 0}));
}

TEST(PlaneSplitTest, MergesToAnyPlace) {
  constexpr size_t kCount = 2 * kPlaneBlock + 13;
  std::mt19937_64 random(6);
  std::vector<uint16_t> high(kCount), low(kCount);
  std::vector<int16_t> residual(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    const uint64_t bits = random();
    high[i] = static_cast<uint16_t>(bits), low[i] = static_cast<uint16_t>(bits >> 16);
    residual[i] = static_cast<int16_t>(bits >> 32);
  }
  const std::vector<int8_t> exponent = {-100, 3, 113};
  const auto n = static_cast<int64_t>(kCount);
  std::vector<float> expected(kCount), memory(kCount + 40);
  for (size_t offset = 0; offset < 32; ++offset) {
    for (bool exact : {false, true}) {
      float* to = memory.data() + offset;
      const auto check = [&] {
        EXPECT_EQ(std::memcmp(to, expected.data(), kCount * sizeof(float)), 0) << offset;
        EXPECT_EQ(to[kCount], 7.0f);
      };
      std::fill(memory.begin(), memory.end(), 7.0f);
      PlainPlanes().merge_half(high.data(), exponent.data(), exact ? residual.data() : nullptr, n, expected.data());
      MergeHalf(high.data(), exponent.data(), exact ? residual.data() : nullptr, n, to);
      check();
      std::fill(memory.begin(), memory.end(), 7.0f);
      PlainPlanes().merge_bf16(high.data(), exact ? low.data() : nullptr, n, expected.data());
      MergeBf16(high.data(), exact ? low.data() : nullptr, n, to);
      check();
    }
  }
}

TEST(PlaneSplitTest, StreamCopyCopiesFromAnyPlaceToAny) {
  std::vector<uint8_t> from(300), to(400);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 37 + 1);
  for (size_t offset = 0; offset < 40; ++offset) {
    for (size_t bytes = 0; bytes <= 200; ++bytes) {
      std::fill(to.begin(), to.end(), uint8_t{0xee});
      StreamCopy(to.data() + offset, from.data() + offset / 3, bytes);
      ASSERT_EQ(std::memcmp(to.data() + offset, from.data() + offset / 3, bytes), 0);
      ASSERT_EQ(to[offset + bytes], 0xee);
      ASSERT_TRUE(offset == 0 || to[offset - 1] == 0xee);
    }
  }
}

}  // namespace
}  // namespace rekindle::kernels
