#include "worker/train/state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>

#include "worker/train/exact_scale.h"
#include "worker/train/testing_layout.h"

namespace rekindle::train {
namespace {

StateScalars SomeScalars() {
  return {.step = 41,
          .attempt = 1,
          .cursor = 656,
          .exponents = {30, -200, 250, kMinExponent, 0},
          .loss_scale = {.log2 = -3, .good_steps = 17, .skipped = 5}};
}

bool Same(const StateScalars& a, const StateScalars& b) {
  return a.step == b.step && a.attempt == b.attempt && a.cursor == b.cursor && a.exponents == b.exponents &&
         a.loss_scale == b.loss_scale;
}

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
      buffer->data()[i] = -0.0f;  // One bit.
      EXPECT_TRUE(digests.insert(StateDigest(state)).second);
      buffer->data()[i] = 0.0f;
    }
  }
  state.scalars.cursor = 1;
  EXPECT_TRUE(digests.insert(StateDigest(state)).second);
  state.scalars.cursor = 0;
  EXPECT_FALSE(digests.insert(StateDigest(state)).second);
}

// The digest is part of reports and manifests: its definition must not drift.
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

TEST(ScalarsTest, RoundTrip) {
  StateScalars back;
  const std::vector<uint8_t> bytes = EncodeScalars(SomeScalars());
  ASSERT_TRUE(DecodeScalars(bytes, &back).ok());
  EXPECT_TRUE(Same(back, SomeScalars()));
  back = {};
  ASSERT_TRUE(ScalarsFromJson(ScalarsToJson(SomeScalars()), &back).ok());
  EXPECT_TRUE(Same(back, SomeScalars()));
  EXPECT_EQ(ScalarsToJson({.step = 2, .cursor = 32, .exponents = {30}}),
            R"({"step":2,"attempt":0,"cursor":32,"exponents":[30],)"
            R"("loss_scale":{"log2":0,"good_steps":0,"skipped":0}})");
}

// Checkpoints of releases without FP16.
TEST(ScalarsTest, JsonWithoutALossScaleIsOfFloat32) {
  StateScalars out;
  ASSERT_TRUE(ScalarsFromJson(R"({"step":2,"attempt":0,"cursor":32,"exponents":[30]})", &out).ok());
  EXPECT_EQ(out.loss_scale, LossScale());
}

// What later releases add for readers that know it.
TEST(ScalarsTest, UnknownNamesInJsonArePassedOver) {
  StateScalars out;
  std::string json = ScalarsToJson(SomeScalars());
  json.insert(1, R"("later":{"of":["a",{"newer":"release"}]},)");
  ASSERT_TRUE(ScalarsFromJson(json, &out).ok());
  EXPECT_TRUE(Same(out, SomeScalars()));
}

TEST(ScalarsTest, LeversTravelToTheLastBit) {
  StateScalars scalars = SomeScalars(), back;
  scalars.levers = {{"plateau.best", 0.1 + 0.2}, {"plateau.share", 1.0 / 3}, {"x", -0.0}};
  ASSERT_TRUE(DecodeScalars(EncodeScalars(scalars), &back).ok());
  EXPECT_EQ(back.levers, scalars.levers);
  back = {};
  ASSERT_TRUE(ScalarsFromJson(ScalarsToJson(scalars), &back).ok());
  EXPECT_EQ(back.levers, scalars.levers);
  scalars.levers["x"] = std::nan("");
  EXPECT_FALSE(DecodeScalars(EncodeScalars(scalars), &back).ok());
  EXPECT_FALSE(ScalarsFromJson(ScalarsToJson(scalars), &back).ok());
}

TEST(ScalarsTest, RefusesEveryTruncationAndExtension) {
  std::vector<uint8_t> bytes = EncodeScalars(SomeScalars());
  StateScalars out = SomeScalars();
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_EQ(DecodeScalars(std::span(bytes).first(n), &out).code(), absl::StatusCode::kInvalidArgument);
  }
  bytes.push_back(0);
  EXPECT_FALSE(DecodeScalars(bytes, &out).ok());
  EXPECT_TRUE(Same(out, SomeScalars()));  // Left alone.
}

TEST(ScalarsTest, RefusesHostileRecords) {
  const auto with = [](size_t at, std::vector<uint8_t> replacement) {
    std::vector<uint8_t> bytes = EncodeScalars(SomeScalars());
    std::copy(replacement.begin(), replacement.end(), bytes.begin() + at);
    return bytes;
  };
  StateScalars out;
  EXPECT_FALSE(DecodeScalars(with(0, {0}), &out).ok());                        // Magic.
  EXPECT_FALSE(DecodeScalars(with(11, {0x80}), &out).ok());                    // Negative step.
  EXPECT_FALSE(DecodeScalars(with(19, {0x80}), &out).ok());                    // Negative attempt.
  EXPECT_FALSE(DecodeScalars(with(27, {0x80}), &out).ok());                    // Negative cursor.
  EXPECT_FALSE(DecodeScalars(with(44, {0xff, 0xff, 0xff, 0xff}), &out).ok());  // Count far beyond the bytes.
  EXPECT_FALSE(DecodeScalars(with(48, {0xff, 0xff, 0xff, 0x7f}), &out).ok());  // Exponent out of range.
  EXPECT_FALSE(DecodeScalars(with(36, {0xff, 0xff, 0xff, 0x7f}), &out).ok());  // Loss scale out of range.
  EXPECT_FALSE(DecodeScalars(with(43, {0x80}), &out).ok());                    // Negative good steps.
  EXPECT_FALSE(DecodeScalars(with(35, {0x80}), &out).ok());                    // Negative skipped steps.
  EXPECT_TRUE(DecodeScalars(with(48, {0x01, 0x00, 0x00, 0x00}), &out).ok());
}

TEST(ScalarsTest, RefusesHostileJson) {
  StateScalars out;
  for (const char* json : {
           "",
           "[]",
           "null",
           "{",
           "{\"step\":1}",
           R"({"step":1,"attempt":0,"cursor":16})",
           R"({"step":-1,"attempt":0,"cursor":16,"exponents":[]})",
           R"({"step":1.5,"attempt":0,"cursor":1,"exponents":[]})",
           R"({"step":"1","attempt":0,"cursor":16,"exponents":[]})",
           R"({"step":1,"attempt":0,"cursor":16,"exponents":{}})",
           R"({"step":1,"attempt":0,"cursor":16,"exponents":[],"levers":[]})",
           R"({"step":1,"attempt":0,"cursor":16,"exponents":[],"levers":{"plateau.best":"1"}})",
           R"({"step":1,"attempt":0,"cursor":16,"exponents":[],"levers":{"":1}})",
           R"({"step":1,"attempt":0,"cursor":16,"exponents":[],"loss_scale":1})",
           R"({"step":1,"attempt":0,"cursor":16,"exponents":[],"loss_scale":{"log2":0,"good_steps":0}})",
           R"({"step":1,"attempt":0,"cursor":16,"exponents":[],"loss_scale":{"log2":65,"good_steps":0,"skipped":0}})",
           R"({"step":1,"attempt":0,"cursor":16,"exponents":[],"loss_scale":{"log2":0,"good_steps":-1,"skipped":0}})",
           R"({"step":1,"attempt":0,"cursor":16,"exponents":[4294967326]})",
           R"({"step":1,"attempt":0,"cursor":16,"exponents":["30"]})",
           R"({"step":1,"attempt":0,"cursor":16,"exponents":[251]})",
           R"({"step":18446744073709551615,"attempt":0,"cursor":16,"exponents":[]})",
       }) {
    EXPECT_EQ(ScalarsFromJson(json, &out).code(), absl::StatusCode::kInvalidArgument) << json;
  }
  EXPECT_FALSE(ScalarsFromJson(std::string(100000, '['), &out).ok());
  EXPECT_FALSE(ScalarsFromJson(std::string((16 << 20) + 1, ' '), &out).ok());
}

}  // namespace
}  // namespace rekindle::train
