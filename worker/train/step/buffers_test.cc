#include "worker/train/step/buffers.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>

#include "worker/train/arithmetic/accumulator.h"
#include "worker/train/arithmetic/gradient_norm.h"
#include "worker/train/state/optimizer.h"
#include "worker/train/testing/host_state.h"
#include "worker/train/testing/testing_layout.h"

namespace rekindle::train {
namespace {

constexpr int kMicroBatches = 6;

// Returns a layout with two parameters, and a buffer of three elements that has the momentum 0.1.
ParameterLayout WithBuffer() {
  ParameterLayout layout = testing::MakeLayout({5, 2, 3});
  layout.parameters[2].momentum = 0.1;
  return layout;
}

std::vector<float> MicroBatchOf(const ParameterLayout& layout, int index) {
  return testing::RandomGradient(layout, 3, 100 + index);
}

// Distributes all micro-batches over `ranks` accumulators. Returns the sums of their gradients.
GradientBuffer SumsOf(const ParameterLayout& layout, const TrainState& state, int ranks) {
  std::vector<int64_t> sums(layout.total);
  const auto buckets = CutIntoBuckets(layout, layout.total);
  for (int rank = 0; rank < ranks; ++rank) {
    GradientAccumulator accumulator(TestHost(), &layout, GradientAccumulator::Mode::kExact, kMicroBatches);
    EXPECT_TRUE(accumulator.Allocate().ok());
    accumulator.Begin(0, 0, state.scalars.exponents);
    for (int index = rank; index < kMicroBatches; index += ranks) {
      const std::vector<float> values = MicroBatchOf(layout, index);
      const int slot = *accumulator.Open(index);
      for (size_t p = 0; p < layout.parameters.size(); ++p) {
        const ParameterInfo& info = layout.parameters[p];
        accumulator.Add(slot, static_cast<int>(p), std::span(values).subspan(info.offset, info.size));
      }
      accumulator.Close(slot, LossSum{1, 1});
      EXPECT_TRUE(accumulator.Take(/*wait=*/true).ok());
    }
    const std::span<int64_t> local = ElementsOf<int64_t>(accumulator.Sums(buckets[0]));
    for (int64_t i = 0; i < layout.total; ++i) sums[i] += local[i];
  }
  return GradientOf(std::span<const int64_t>(sums));
}

TEST(BuffersTest, ABufferMovesTowardsTheMeanOfTheMicroBatchesHoweverTheyAreSharedOut) {
  const ParameterLayout layout = WithBuffer();
  TrainState one = ZeroState(layout), three = ZeroState(layout);
  for (TrainState* state : {&one, &three}) {
    for (int i = 7; i < 10; ++i) FloatsOf(state->weights)[i] = 0.5f;
  }
  UpdateBuffers(TestHost(), layout, SumsOf(layout, one, 1), kMicroBatches, one);
  UpdateBuffers(TestHost(), layout, SumsOf(layout, three, 3), kMicroBatches, three);
  EXPECT_EQ(DigestOf(one), DigestOf(three));
  for (int i = 0; i < 7; ++i) EXPECT_EQ(FloatsOf(one.weights)[i], 0) << "parameters are the optimizer's";
  for (int i = 7; i < 10; ++i) {
    double mean = 0;
    for (int index = 0; index < kMicroBatches; ++index) mean += MicroBatchOf(layout, index)[i] / kMicroBatches;
    EXPECT_NEAR(FloatsOf(one.weights)[i], 0.9 * 0.5 + 0.1 * mean, 1e-6);
  }
}

TEST(BuffersTest, FloatsGiveTheSameUpToRounding) {
  const ParameterLayout layout = WithBuffer();
  TrainState exact = ZeroState(layout), floats = ZeroState(layout);
  UpdateBuffers(TestHost(), layout, SumsOf(layout, exact, 2), kMicroBatches, exact);
  std::vector<float> sums(layout.total);
  for (int index = 0; index < kMicroBatches; ++index) {
    const std::vector<float> values = MicroBatchOf(layout, index);
    for (int64_t i = 0; i < layout.total; ++i) sums[i] += values[i];
  }
  UpdateBuffers(TestHost(), layout, GradientOf(std::span<const float>(sums)), kMicroBatches, floats);
  for (int i = 7; i < 10; ++i) EXPECT_NEAR(FloatsOf(exact.weights)[i], FloatsOf(floats.weights)[i], 1e-6);
}

TEST(BuffersTest, TheOptimizerAndTheNormPassThemOver) {
  const ParameterLayout layout = WithBuffer();
  TrainState state = ZeroState(layout);
  std::vector<float> gradient(layout.total, 1.0f);
  for (int i = 7; i < 10; ++i) gradient[i] = 1e6f;
  const GradientBuffer buffer = GradientOf(std::span<const float>(gradient));
  EXPECT_EQ(*GradientSumOfSquares(TestHost(), layout, buffer, {}), 7);
  const UpdateResult result = *Update(TestHost(), layout, buffer, 1, {}, 0.1, 0, &state);
  EXPECT_FALSE(result.found_inf);
  EXPECT_NE(FloatsOf(state.weights)[6], 0);
  for (int i = 7; i < 10; ++i) {
    EXPECT_EQ(FloatsOf(state.weights)[i], 0);
    EXPECT_EQ(FloatsOf(state.second_moment)[i], 0);
  }
}

}  // namespace
}  // namespace rekindle::train
