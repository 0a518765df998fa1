// Tests SGD and Lion against plain loops, with one rounding per operation. The code for this machine's instruction set
// must give the same bits as the code for plain x86-64.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/optimizers/lion.h"
#include "kernels/optimizers/sgd.h"
#include "kernels/sums/fixed_point.h"

namespace rekindle::kernels {
namespace {

constexpr int kElements = 1003;

std::vector<float> Random(uint32_t seed, float spread) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(kElements);
  for (float& x : values) x = spread * normal(random);
  return values;
}

std::vector<int64_t> Fixed(const std::vector<float>& gradient) {
  std::vector<int64_t> fixed(gradient.size());
  AccumulateFixed(gradient.data(), kElements, 50, true, fixed.data());
  return fixed;
}

TEST(SgdTest, SameBitsAsThePlainLoopInBothModes) {
  const Sgd sgd{.weight_decay = 0.01f, .momentum = 0.9f, .step_size = 0.1f};
  std::vector<float> weights = Random(1, 0.02f), velocity = Random(2, 1e-3f);
  std::vector<float> fixed_weights = weights, fixed_velocity = velocity, plain = weights, plain_velocity = velocity;
  for (int step = 0; step < 10; ++step) {
    const std::vector<float> gradient = Random(10 + step, 3);
    SgdUpdate(sgd, gradient.data(), 0.125f, kElements, weights.data(), velocity.data());
    SgdUpdate(sgd, Fixed(gradient).data(), std::ldexp(0.125, -50), kElements, fixed_weights.data(),
              fixed_velocity.data());
    for (int i = 0; i < kElements; ++i) {
      volatile float g = gradient[i] * 0.125f;
      volatile float pull = plain[i] * 0.01f;
      volatile float sum = g + pull;
      volatile float kept = plain_velocity[i] * 0.9f;
      plain_velocity[i] = kept + sum;
      volatile float change = plain_velocity[i] * 0.1f;
      plain[i] = plain[i] - change;
    }
    ASSERT_EQ(weights, plain) << "step " << step;
    ASSERT_EQ(velocity, plain_velocity) << "step " << step;
    // The test's gradients lose only their last bits in fixed point with unit 2^-50.
    for (int i = 0; i < kElements; ++i) ASSERT_NEAR(fixed_weights[i], plain[i], 1e-6) << "step " << step;
  }
}

TEST(LionTest, SameBitsAsThePlainLoopInBothModes) {
  const Lion lion{.decay = 0.999f, .rate1 = 0.1f, .rate2 = 0.01f, .step_size = 1e-3f};
  std::vector<float> weights = Random(1, 0.02f), momentum = Random(2, 1e-3f);
  weights[7] = momentum[7] = 0;
  std::vector<float> fixed_weights = weights, fixed_momentum = momentum, plain = weights, plain_momentum = momentum;
  for (int step = 0; step < 10; ++step) {
    std::vector<float> gradient = Random(10 + step, 3);
    gradient[7] = 0;
    LionUpdate(lion, gradient.data(), 0.125f, kElements, weights.data(), momentum.data());
    LionUpdate(lion, Fixed(gradient).data(), std::ldexp(0.125, -50), kElements, fixed_weights.data(),
               fixed_momentum.data());
    for (int i = 0; i < kElements; ++i) {
      volatile float g = gradient[i] * 0.125f;
      volatile float difference = g - plain_momentum[i];
      volatile float part = difference * 0.1f;
      volatile float direction = plain_momentum[i] + part;
      volatile float decayed = plain[i] * 0.999f;
      plain[i] = decayed - (direction > 0 ? 1e-3f : direction < 0 ? -1e-3f : 0.0f);
      volatile float fresh = difference * 0.01f;
      plain_momentum[i] = plain_momentum[i] + fresh;
    }
    ASSERT_EQ(weights, plain) << "step " << step;
    ASSERT_EQ(momentum, plain_momentum) << "step " << step;
    for (int i = 0; i < kElements; ++i) ASSERT_NEAR(fixed_weights[i], plain[i], 1e-6) << "step " << step;
  }
  EXPECT_EQ(weights[7], 0);
}

}  // namespace
}  // namespace rekindle::kernels
