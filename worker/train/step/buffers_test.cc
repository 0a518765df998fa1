#include "worker/train/step/buffers.h"

#include <gtest/gtest.h>

#include <memory>

#include "worker/train/arithmetic/accumulator.h"
#include "worker/train/arithmetic/gradient_norm.h"
#include "worker/train/state/optimizer.h"
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

// Returns the sums of all micro-batches, which are distributed over `ranks` accumulators.
std::vector<int64_t> SumsOf(const ParameterLayout& layout, const TrainState& state, int ranks) {
  std::vector<int64_t> sums(layout.total);
  const auto buckets = CutIntoBuckets(layout, layout.total);
  for (int rank = 0; rank < ranks; ++rank) {
    GradientAccumulator accumulator(&layout, GradientAccumulator::Mode::kExact, kMicroBatches);
    accumulator.Begin(0, 0, state.scalars.exponents);
    for (int index = rank; index < kMicroBatches; index += ranks) {
      const std::vector<float> values = MicroBatchOf(layout, index);
      for (size_t p = 0; p < layout.parameters.size(); ++p) {
        const ParameterInfo& info = layout.parameters[p];
        accumulator.Add(static_cast<int>(p), std::span(values).subspan(info.offset, info.size));
      }
      EXPECT_TRUE(accumulator.MicroBatchDone(index, {1, 1}).ok());
    }
    const auto* local = static_cast<const int64_t*>(accumulator.Data(buckets[0]));
    for (int64_t i = 0; i < layout.total; ++i) sums[i] += local[i];
  }
  return sums;
}

TEST(BuffersTest, ABufferMovesTowardsTheMeanOfTheMicroBatchesHoweverTheyAreSharedOut) {
  const ParameterLayout layout = WithBuffer();
  TrainState one = TrainState::Zero(layout), three = TrainState::Zero(layout);
  for (TrainState* state : {&one, &three}) {
    for (int i = 7; i < 10; ++i) state->weights.data()[i] = 0.5f;
  }
  UpdateBuffers(layout, {.fixed = SumsOf(layout, one, 1).data()}, kMicroBatches, &one);
  UpdateBuffers(layout, {.fixed = SumsOf(layout, three, 3).data()}, kMicroBatches, &three);
  EXPECT_EQ(StateDigest(one), StateDigest(three));
  for (int i = 0; i < 7; ++i) EXPECT_EQ(one.weights.data()[i], 0) << "parameters are the optimizer's";
  for (int i = 7; i < 10; ++i) {
    double mean = 0;
    for (int index = 0; index < kMicroBatches; ++index) mean += MicroBatchOf(layout, index)[i] / kMicroBatches;
    EXPECT_NEAR(one.weights.data()[i], 0.9 * 0.5 + 0.1 * mean, 1e-6);
  }
}

TEST(BuffersTest, FloatsGiveTheSameUpToRounding) {
  const ParameterLayout layout = WithBuffer();
  TrainState exact = TrainState::Zero(layout), floats = TrainState::Zero(layout);
  UpdateBuffers(layout, {.fixed = SumsOf(layout, exact, 2).data()}, kMicroBatches, &exact);
  std::vector<float> sums(layout.total);
  for (int index = 0; index < kMicroBatches; ++index) {
    const std::vector<float> values = MicroBatchOf(layout, index);
    for (int64_t i = 0; i < layout.total; ++i) sums[i] += values[i];
  }
  UpdateBuffers(layout, {.values = sums.data()}, kMicroBatches, &floats);
  for (int i = 7; i < 10; ++i) EXPECT_NEAR(exact.weights.data()[i], floats.weights.data()[i], 1e-6);
}

TEST(BuffersTest, TheOptimizerAndTheNormPassThemOver) {
  const ParameterLayout layout = WithBuffer();
  TrainState state = TrainState::Zero(layout);
  std::vector<float> gradient(layout.total, 1.0f);
  for (int i = 7; i < 10; ++i) gradient[i] = 1e6f;
  EXPECT_EQ(GradientSumOfSquares(layout, {.values = gradient.data()}, {}), 7);
  const UpdateResult result = Update(layout, {.values = gradient.data()}, 1, {}, 0.1, 0, &state);
  EXPECT_FALSE(result.found_inf);
  EXPECT_NE(state.weights.data()[6], 0);
  for (int i = 7; i < 10; ++i) {
    EXPECT_EQ(state.weights.data()[i], 0);
    EXPECT_EQ(state.second_moment.data()[i], 0);
  }
}

}  // namespace
}  // namespace rekindle::train
