#include "worker/train/state/train_state.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "worker/train/arithmetic/exact_scale.h"
#include "worker/train/testing/testing_layout.h"

namespace rekindle::train {
namespace {

TEST(FloatBufferTest, AlignedAndZeroed) {
  for (int64_t size : {0, 1, 15, 16, 1000}) {
    const FloatBuffer buffer(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
    for (float x : buffer.span()) EXPECT_EQ(x, 0.0f);
  }
}

TEST(StateTest, ZeroHasTheExponentsOfStepZero) {
  const TrainState state = TrainState::Zero(testing::MakeLayout({3, 4}));
  EXPECT_EQ(state.weights.size(), 7);
  EXPECT_EQ(state.scalars.step, 0);
  EXPECT_EQ(state.scalars.exponents, (std::vector<int32_t>{kInitialExponent, kInitialExponent}));
}

TEST(StateDigestTest, EveryElementAndTheCursorCount) {
  TrainState state = TrainState::Zero(testing::MakeLayout({5}));
  std::set<std::string> digests{StateDigest(state)};
  EXPECT_EQ(StateDigest(state).size(), 32u);
  for (FloatBuffer* buffer : {&state.weights, &state.first_moment, &state.second_moment}) {
    for (int i = 0; i < 5; ++i) {
      // Writing -0 for 0 changes only one bit of the state.
      buffer->data()[i] = -0.0f;
      EXPECT_TRUE(digests.insert(StateDigest(state)).second);
      buffer->data()[i] = 0.0f;
    }
  }
  state.scalars.cursor = 1;
  EXPECT_TRUE(digests.insert(StateDigest(state)).second);
  state.scalars.cursor = 0;
  EXPECT_FALSE(digests.insert(StateDigest(state)).second);
}

// The digest is part of reports and manifests, so its definition must not drift.
TEST(StateDigestTest, KnownValue) {
  TrainState state = TrainState::Zero(testing::MakeLayout({4}));
  for (int i = 0; i < 4; ++i) {
    state.weights.data()[i] = static_cast<float>(i);
    state.first_moment.data()[i] = 0.5f;
    state.second_moment.data()[i] = 0.25f;
  }
  state.scalars.cursor = 16;
  EXPECT_EQ(StateDigest(state), "3224366fe69f56a66a16f8b220710199");
}

TEST(StateTest, MomentsThatAreNotKeptAreZerosWithoutMemory) {
  const ParameterLayout layout = testing::MakeLayout({70000});
  TrainState both = TrainState::Zero(layout), none = TrainState::Zero(layout, 0);
  EXPECT_EQ(StateDigest(none), StateDigest(both));
  none.second_moment.data()[5] = 1;
  EXPECT_NE(StateDigest(none), StateDigest(both));
  none.DropUnused();
  EXPECT_EQ(StateDigest(none), StateDigest(both));
}

}  // namespace
}  // namespace rekindle::train
