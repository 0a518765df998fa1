#include "worker/train/state/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "worker/train/arithmetic/exact_scale.h"
#include "worker/train/arithmetic/gradient_norm.h"
#include "worker/train/testing/host_state.h"
#include "worker/train/testing/testing_layout.h"

namespace rekindle::train {
namespace {

const OptimizerSpec kSpec;

// Makes a step on the host.
UpdateResult Step(const ParameterLayout& layout, const GradientBuffer& gradient, int64_t count, double rate,
                  double clip, TrainState* state) {
  return *Update(TestHost(), layout, gradient, count, kSpec, rate, clip, state);
}

TrainState SomeState(const ParameterLayout& layout) {
  TrainState state = ZeroState(layout);
  const std::vector<float> weights = testing::RandomGradient(layout, 0.02, 99);
  std::copy(weights.begin(), weights.end(), FloatsOf(state.weights).begin());
  return state;
}

// Implements AdamW in double, according to its definition.
struct Reference {
  std::vector<double> weights, first, second;
  // `steps` counts for each parameter the updates that it had.
  std::vector<int> steps;

  explicit Reference(const TrainState& state, const ParameterLayout& layout)
      : weights(FloatsOf(state.weights).begin(), FloatsOf(state.weights).end()),
        first(weights.size()),
        second(weights.size()),
        steps(layout.parameters.size()) {}

  // Updates the parameters that have a gradient.
  double Apply(const ParameterLayout& layout, const std::vector<double>& sum, double count, double rate, double clip,
               const std::vector<uint8_t>& has_gradient) {
    double squares = 0;
    for (double g : sum) squares += (g / count) * (g / count);
    const double norm = std::sqrt(squares);
    const double scale = (clip > 0 ? std::min(1.0, clip / (norm + 1e-6)) : 1.0) / count;
    for (size_t p = 0; p < layout.parameters.size(); ++p) {
      if (has_gradient[p] == 0) continue;
      const ParameterInfo& info = layout.parameters[p];
      const int step = ++steps[p];
      for (int64_t i = info.offset; i < info.offset + info.size; ++i) {
        const double g = sum[i] * scale;
        if (info.decay) weights[i] *= 1 - rate * kSpec.weight_decay;
        first[i] = kSpec.beta1 * first[i] + (1 - kSpec.beta1) * g;
        second[i] = kSpec.beta2 * second[i] + (1 - kSpec.beta2) * g * g;
        const double m = first[i] / (1 - std::pow(kSpec.beta1, step));
        const double v = second[i] / (1 - std::pow(kSpec.beta2, step));
        weights[i] -= rate * m / (std::sqrt(v) + kSpec.epsilon);
      }
    }
    return norm;
  }
};

TEST(OptimizerTest, FollowsTheDefinitionInBothModes) {
  const ParameterLayout layout = testing::MakeLayout({70000, 128, 3, 1000});
  for (double clip : {0.0, 1.0, 1e-3, 1e9}) {
    TrainState fixed = SomeState(layout), values = SomeState(layout);
    Reference reference(fixed, layout);
    fixed.scalars.exponents.assign(4, 45);
    for (int step = 0; step < 10; ++step) {
      fixed.scalars.step = values.scalars.step = step;
      const std::vector<float> gradient = testing::RandomGradient(layout, 100.0, step);
      std::vector<int64_t> q(layout.total);
      for (int64_t i = 0; i < layout.total; ++i) q[i] = std::llrint(std::ldexp(double{gradient[i]}, 45));
      const double norm = reference.Apply(layout, {gradient.begin(), gradient.end()}, 2048, 1e-3, clip, {1, 1, 1, 1});
      const UpdateResult a = Step(layout, GradientOf(std::span<const int64_t>(q)), 2048, 1e-3, clip, &fixed);
      const UpdateResult b = Step(layout, GradientOf(std::span<const float>(gradient)), 2048, 1e-3, clip, &values);
      EXPECT_FALSE(a.found_inf || b.found_inf);
      EXPECT_NEAR(a.grad_norm, norm, 1e-9 * norm);
      EXPECT_NEAR(b.grad_norm, norm, 1e-9 * norm);
    }
    for (int64_t i = 0; i < layout.total; ++i) {
      ASSERT_NEAR(FloatsOf(fixed.weights)[i], reference.weights[i], 1e-7) << "clip " << clip << " element " << i;
      ASSERT_NEAR(FloatsOf(values.weights)[i], reference.weights[i], 1e-7) << "clip " << clip << " element " << i;
    }
  }
}

TEST(OptimizerTest, AParameterWithoutAGradientStaysAndCountsItsOwnUpdates) {
  const ParameterLayout layout = testing::MakeLayout({70000, 128, 3, 1000});
  TrainState state = SomeState(layout);
  Reference reference(state, layout);
  for (int step = 0; step < 8; ++step) {
    const std::vector<uint8_t> has_gradient = {1, static_cast<uint8_t>(step % 2), 0, static_cast<uint8_t>(step >= 3)};
    std::vector<float> gradient = testing::RandomGradient(layout, 100.0, step);
    for (size_t p = 0; p < 4; ++p) {
      const ParameterInfo& info = layout.parameters[p];
      if (has_gradient[p] == 0) std::fill_n(gradient.begin() + info.offset, info.size, 0.0f);
    }
    reference.Apply(layout, {gradient.begin(), gradient.end()}, 2048, 1e-3, 0, has_gradient);
    const GradientBuffer sums = GradientOf(std::span<const float>(gradient));
    const absl::StatusOr<double> squares = GradientSumOfSquares(TestHost(), layout, sums, state.scalars.exponents);
    ASSERT_TRUE(squares.ok());
    const PlannedUpdate update = PlanUpdate(sums, *squares, 2048, kSpec, 1e-3, 0, state.scalars, has_gradient);
    // A copy of a part that begins and ends within parameters has the bits of the update in place.
    const ElementRange range{69'990, 70'600};
    const TrainState copy = ZeroState(layout);
    const auto part = [&](const FloatBuffer& buffer) { return buffer.Part(range.begin, range.size()); };
    ASSERT_TRUE(RunAndAwait(TestHost(), device::Queue::kCompute,
                            UpdatedCopyOf(layout, update, range, state,
                                          {part(copy.weights), part(copy.first_moment), part(copy.second_moment)}))
                    .ok());
    ASSERT_TRUE(
        RunAndAwait(TestHost(), device::Queue::kCompute, UpdateOf(layout, update, {0, layout.total}, state)).ok());
    for (const auto& [updated, copied] : {std::pair{&state.weights, &copy.weights},
                                          {&state.first_moment, &copy.first_moment},
                                          {&state.second_moment, &copy.second_moment}}) {
      EXPECT_EQ(std::memcmp(&FloatsOf(*updated)[range.begin], &FloatsOf(*copied)[range.begin],
                            static_cast<size_t>(range.size()) * sizeof(float)),
                0)
          << "step " << step;
    }
    ++state.scalars.step;
    state.scalars.missed.resize(4);
    for (size_t p = 0; p < 4; ++p) state.scalars.missed[p] += has_gradient[p] == 0 ? 1 : 0;
  }
  EXPECT_EQ(state.scalars.missed, (std::vector<int64_t>{0, 4, 8, 3}));
  const TrainState start = SomeState(layout);
  for (int64_t i = 0; i < layout.total; ++i) {
    ASSERT_NEAR(FloatsOf(state.weights)[i], reference.weights[i], 1e-7) << "element " << i;
    if (i >= layout.parameters[2].offset && i < layout.parameters[3].offset) {
      ASSERT_EQ(FloatsOf(state.weights)[i], FloatsOf(start.weights)[i]) << "element " << i;
    }
  }
}

TEST(OptimizerTest, WritesNothingWhenTheGradientIsNotFinite) {
  const ParameterLayout layout = testing::MakeLayout({70000, 128});
  for (float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    for (int64_t at : {int64_t{0}, int64_t{69999}, layout.total - 1}) {
      TrainState state = SomeState(layout);
      const std::string before = DigestOf(state);
      std::vector<float> gradient = testing::RandomGradient(layout, 1.0, 1);
      gradient[at] = bad;
      EXPECT_TRUE(Step(layout, GradientOf(std::span<const float>(gradient)), 100, 1e-3, 1.0, &state).found_inf);
      EXPECT_EQ(DigestOf(state), before);
    }
  }
}

TEST(OptimizerTest, ExtremeExponentsKeepTheValue) {
  const ParameterLayout layout = testing::MakeLayout({64});
  const std::vector<float> unit = testing::RandomGradient(layout, 1.0, 3);
  // The gradients are scaled by 2^power and given in fixed point of 2^(40 - power), so their integers are the same for
  // every power. The norm is scaled by 2^power, and the result of Adam does not change.
  std::vector<int64_t> q(64);
  for (int i = 0; i < 64; ++i) q[i] = std::llrint(std::ldexp(double{unit[i]}, 40));
  TrainState expected = SomeState(layout);
  expected.scalars.exponents = {40};
  const double norm = Step(layout, GradientOf(std::span<const int64_t>(q)), 1, 1e-3, 1.0, &expected).grad_norm;
  for (int power : {-20, 60, 120}) {
    TrainState state = SomeState(layout);
    state.scalars.exponents = {40 - power};
    const UpdateResult result = Step(layout, GradientOf(std::span<const int64_t>(q)), 1, 1e-3, 1.0, &state);
    EXPECT_DOUBLE_EQ(result.grad_norm, std::ldexp(norm, power));
    for (int i = 0; i < 64; ++i) EXPECT_TRUE(std::isfinite(FloatsOf(state.weights)[i]));
    // `expected` is the result for gradients that are not scaled. Larger gradients are clipped to the same norm, so
    // they give the same weights.
    if (power > 0) {
      EXPECT_NEAR(FloatsOf(state.weights)[5], FloatsOf(expected.weights)[5], 1e-8);
    }
  }
}

TEST(OptimizerTest, ZeroGradientOnlyDecays) {
  const ParameterLayout layout = testing::MakeLayout({16, 16});
  TrainState state = SomeState(layout);
  const std::vector<float> before(FloatsOf(state.weights).begin(), FloatsOf(state.weights).end());
  const std::vector<int64_t> zero(32);
  const UpdateResult result = Step(layout, GradientOf(std::span<const int64_t>(zero)), 10, 0.5, 1.0, &state);
  EXPECT_EQ(result.grad_norm, 0);
  for (int i = 0; i < 16; ++i) EXPECT_FLOAT_EQ(FloatsOf(state.weights)[i], before[i] * 0.95f);
  for (int i = 16; i < 32; ++i) EXPECT_EQ(FloatsOf(state.weights)[i], before[i]);
}

TEST(OptimizerTest, AParameterMayHaveARateAndAWeightDecayOfItsOwn) {
  ParameterLayout layout = testing::MakeLayout({16, 16, 16});
  const std::vector<float> gradient = testing::RandomGradient(layout, 1.0, 5);
  const auto stepped = [&](double rate) {
    TrainState state = SomeState(layout);
    Step(layout, GradientOf(std::span<const float>(gradient)), 1, rate, 0, &state);
    return std::vector<float>(FloatsOf(state.weights).begin(), FloatsOf(state.weights).end());
  };
  const std::vector<float> whole = stepped(0.5), quarter = stepped(0.125);
  layout.parameters[1].rate = 0.25;
  layout.parameters[2].rate = 0;
  const std::vector<float> mixed = stepped(0.5);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(mixed[i], whole[i]);
    EXPECT_EQ(mixed[16 + i], quarter[16 + i]);
    EXPECT_EQ(mixed[32 + i], FloatsOf(SomeState(layout).weights)[32 + i]) << "a rate of 0 changes nothing";
  }
  layout = testing::MakeLayout({16, 16, 16});
  layout.parameters[0].own_weight_decay = 0;
  layout.parameters[1].own_weight_decay = kSpec.weight_decay;
  const std::vector<float> decayed = stepped(0.5);
  for (ParameterInfo& info : layout.parameters) {
    info.decay = !info.decay;
    info.own_weight_decay.reset();
  }
  const std::vector<float> swapped = stepped(0.5);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(decayed[i], swapped[i]);
}

TEST(GradientNormTest, BlocksAreSummedInOrder) {
  const ParameterLayout layout = testing::MakeLayout({65536 * 2 + 5, 65530, 1, 3, 100});
  const std::vector<float> gradient = testing::RandomGradient(layout, 1.0, 1);
  double total = 0;
  for (int64_t begin = 0; begin < layout.total; begin += kNormBlockElements) {
    double block = 0;
    for (const ParameterInfo& info : layout.parameters) {
      const int64_t from = std::max(begin, info.offset);
      const int64_t to = std::min({begin + kNormBlockElements, info.offset + info.size, layout.total});
      double lanes[8] = {};
      for (int64_t i = from; i < to; ++i) lanes[(i - from) % 8] += double{gradient[i]} * double{gradient[i]};
      if (from < to) {
        block += ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
      }
    }
    total += block;
  }
  const GradientBuffer buffer = GradientOf(std::span<const float>(gradient));
  EXPECT_EQ(*GradientSumOfSquares(TestHost(), layout, buffer, {}), total);
  // SquaresGatherer gets the gradient bucket by bucket, from the last parameter on, in the order of the reduction.
  SquaresGatherer gatherer(TestHost(), layout);
  ASSERT_TRUE(gatherer.Allocate().ok());
  for (const GradientBucket& bucket : CutIntoBuckets(layout, 100)) gatherer.Add(buffer, {}, bucket);
  EXPECT_EQ(*gatherer.Total(), total);
}

}  // namespace
}  // namespace rekindle::train
