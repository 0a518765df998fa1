#include "kernels/optimizers/adamw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/sums/fixed_point.h"

namespace rekindle::kernels {
namespace {

constexpr int kElements = 1003;

struct Buffers {
  std::vector<float> weights, first, second;

  static Buffers Random(uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    Buffers b{std::vector<float>(kElements), std::vector<float>(kElements), std::vector<float>(kElements)};
    for (int i = 0; i < kElements; ++i) {
      b.weights[i] = 0.02f * normal(random);
      b.first[i] = 1e-3f * normal(random);
      b.second[i] = 1e-6f * std::abs(normal(random));
    }
    return b;
  }
  bool operator==(const Buffers&) const = default;
};

std::vector<float> RandomGradient(uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> g(kElements);
  for (float& x : g) x = 3 * normal(random);
  return g;
}

// Computes AdamW by its formulas in the documented order, with one rounding per operation.
void Plain(const Adamw& a, const std::vector<float>& gradient, float scale, Buffers* b) {
  for (int i = 0; i < kElements; ++i) {
    volatile float g = gradient[i] * scale;
    volatile float delta = g - b->first[i];
    volatile float step = delta * a.rate1;
    b->first[i] = b->first[i] + step;
    volatile float square = g * g;
    volatile float fresh = square * a.rate2;
    volatile float kept = b->second[i] * a.beta2;
    b->second[i] = kept + fresh;
    volatile float root = std::sqrt(b->second[i]);
    volatile float corrected = root * a.correction2;
    volatile float divisor = corrected + a.epsilon;
    volatile float dividend = a.step_size * b->first[i];
    volatile float change = dividend / divisor;
    volatile float decayed = b->weights[i] * a.decay;
    b->weights[i] = decayed - change;
  }
}

TEST(AdamwTest, SameBitsAsThePlainLoop) {
  Buffers fast = Buffers::Random(1), plain = fast;
  for (int step = 1; step <= 20; ++step) {
    const Adamw adamw = MakeAdamw(1e-3, 0.9, 0.95, 1e-8, step % 2 ? 0.1 : 0, step);
    const std::vector<float> gradient = RandomGradient(step);
    AdamwUpdate(adamw, gradient.data(), 1e-3f, kElements, fast.weights.data(), fast.first.data(), fast.second.data());
    Plain(adamw, gradient, 1e-3f, &plain);
    ASSERT_EQ(fast, plain) << "step " << step;
  }
}

TEST(AdamwTest, FixedPointIsConversionThenFloat) {
  const std::vector<float> gradient = RandomGradient(7);
  std::vector<int64_t> fixed(kElements);
  AccumulateFixed(gradient.data(), kElements, 50, true, fixed.data());
  const double scale = std::ldexp(0.75 / 2048, -50);
  std::vector<float> converted(kElements);
  for (int i = 0; i < kElements; ++i) converted[i] = static_cast<float>(static_cast<double>(fixed[i]) * scale);

  const Adamw adamw = MakeAdamw(1e-3, 0.9, 0.95, 1e-8, 0.1, 3);
  Buffers fused = Buffers::Random(2), two_passes = fused;
  AdamwUpdate(adamw, fixed.data(), scale, kElements, fused.weights.data(), fused.first.data(), fused.second.data());
  AdamwUpdate(adamw, converted.data(), 1.0f, kElements, two_passes.weights.data(), two_passes.first.data(),
              two_passes.second.data());
  EXPECT_EQ(fused, two_passes);
}

TEST(AdamwTest, AnyCutGivesTheSameBits) {
  const std::vector<float> gradient = RandomGradient(8);
  const Adamw adamw = MakeAdamw(1e-3, 0.9, 0.95, 1e-8, 0.1, 3);
  Buffers whole = Buffers::Random(3), cut = whole;
  AdamwUpdate(adamw, gradient.data(), 1e-3f, kElements, whole.weights.data(), whole.first.data(), whole.second.data());
  for (int at = 0, size = 1; at < kElements; at += size, size = 1 + (size * 7) % 41) {
    const int n = std::min(size, kElements - at);
    AdamwUpdate(adamw, gradient.data() + at, 1e-3f, n, cut.weights.data() + at, cut.first.data() + at,
                cut.second.data() + at);
  }
  EXPECT_EQ(whole, cut);
}

TEST(AdamwTest, BiasCorrectionMatchesPow) {
  for (int64_t step : {1, 2, 3, 10, 1000, 1000000}) {
    const Adamw adamw = MakeAdamw(0.5, 0.9, 0.999, 1e-8, 0, step);
    EXPECT_FLOAT_EQ(adamw.step_size, static_cast<float>(0.5 / (1 - std::pow(0.9, step))));
    EXPECT_FLOAT_EQ(adamw.correction2, static_cast<float>(1 / std::sqrt(1 - std::pow(0.999, step))));
  }
}

}  // namespace
}  // namespace rekindle::kernels
