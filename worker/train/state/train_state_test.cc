#include "worker/train/state/train_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "worker/device/fake/fake_device.h"
#include "worker/train/arithmetic/exact_scale.h"
#include "worker/train/testing/host_state.h"
#include "worker/train/testing/testing_layout.h"

namespace rekindle::train {
namespace {

constexpr int64_t kUnit = device::kCommitBytes / 4;

TEST(FloatBufferTest, AlignedAndZeroed) {
  for (int64_t size : {0, 1, 15, 16, 1000}) {
    const absl::StatusOr<FloatBuffer> buffer = FloatBuffer::Zeros(TestHost(), size, "floats");
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ(buffer->size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(FloatsOf(*buffer).data()) % 64, 0u);
    for (float x : FloatsOf(*buffer)) EXPECT_EQ(x, 0.0f);
  }
}

TEST(FloatBufferTest, ReservedFloatsTakeMemoryWhereTheyWereCommittedAndAreZerosThere) {
  absl::StatusOr<FloatBuffer> buffer = FloatBuffer::Reserved(TestHost(), 3 * kUnit + 5, "floats");
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ(buffer->bytes(), 0);
  ASSERT_TRUE(buffer->Commit(kUnit, 2 * kUnit).ok());
  EXPECT_EQ(buffer->bytes(), kUnit * 4);
  FloatsOf(*buffer)[kUnit] = 1;
  ASSERT_TRUE(buffer->Commit(0, 3 * kUnit + 5).ok());
  EXPECT_EQ(FloatsOf(*buffer)[kUnit], 1) << "what was committed before keeps its values";
  EXPECT_EQ(buffer->bytes(), (3 * kUnit + 5) * 4);
  buffer->Release(0, 2 * kUnit);
  EXPECT_EQ(buffer->bytes(), (kUnit + 5) * 4);
  ASSERT_TRUE(buffer->Commit(0, 2 * kUnit).ok());
  EXPECT_EQ(FloatsOf(*buffer)[kUnit], 0);
}

TEST(StateTest, ZeroHasTheExponentsOfStepZero) {
  const TrainState state = ZeroState(testing::MakeLayout({3, 4}));
  EXPECT_EQ(state.weights.size(), 7);
  EXPECT_EQ(state.scalars.step, 0);
  EXPECT_EQ(state.scalars.exponents, (std::vector<int32_t>{kInitialExponent, kInitialExponent}));
}

TEST(StateDigestTest, EveryElementAndTheCursorCount) {
  TrainState state = ZeroState(testing::MakeLayout({5}));
  std::set<std::string> digests{DigestOf(state)};
  EXPECT_EQ(DigestOf(state).size(), 32u);
  for (FloatBuffer* buffer : {&state.weights, &state.first_moment, &state.second_moment}) {
    for (int i = 0; i < 5; ++i) {
      // Writing -0 for 0 changes only one bit of the state.
      FloatsOf(*buffer)[i] = -0.0f;
      EXPECT_TRUE(digests.insert(DigestOf(state)).second);
      FloatsOf(*buffer)[i] = 0.0f;
    }
  }
  state.scalars.cursor = 1;
  EXPECT_TRUE(digests.insert(DigestOf(state)).second);
  state.scalars.cursor = 0;
  EXPECT_FALSE(digests.insert(DigestOf(state)).second);
}

// The digest is part of reports and manifests, so its definition must not drift.
TEST(StateDigestTest, KnownValue) {
  TrainState state = ZeroState(testing::MakeLayout({4}));
  for (int i = 0; i < 4; ++i) {
    FloatsOf(state.weights)[i] = static_cast<float>(i);
    FloatsOf(state.first_moment)[i] = 0.5f;
    FloatsOf(state.second_moment)[i] = 0.25f;
  }
  state.scalars.cursor = 16;
  EXPECT_EQ(DigestOf(state), "3224366fe69f56a66a16f8b220710199");
}

TEST(StateTest, MomentsThatAreNotKeptAreZerosWithoutMemory) {
  const ParameterLayout layout = testing::MakeLayout({70000});
  EXPECT_EQ(DigestOf(ZeroState(layout, 0)), DigestOf(ZeroState(layout)));
  EXPECT_EQ(ZeroState(layout, 1).second_moment.bytes(), 0);
}

TEST(StateTest, WhatDoesNotFitIsSaidWithItsBytes) {
  const auto fake = device::MakeFakeDevice({.memory_bytes = 1000});
  const absl::StatusOr<TrainState> state = TrainState::Zero(*fake, testing::MakeLayout({100}));
  EXPECT_EQ(state.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(state.status().message()), ::testing::HasSubstr("the second moment takes"));
}

}  // namespace
}  // namespace rekindle::train
