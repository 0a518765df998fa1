#include "worker/train/state/state_scalars.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "worker/train/arithmetic/exact_scale.h"

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

// Checkpoints of releases without FP16 have no loss scale.
TEST(ScalarsTest, JsonWithoutALossScaleIsOfFloat32) {
  StateScalars out;
  ASSERT_TRUE(ScalarsFromJson(R"({"step":2,"attempt":0,"cursor":32,"exponents":[30]})", &out).ok());
  EXPECT_EQ(out.loss_scale, LossScale());
}

// Later releases may add names to the JSON, which this release does not know.
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

TEST(ScalarsTest, MissedStepsTravel) {
  StateScalars scalars = SomeScalars(), back;
  scalars.missed = {0, 41, 3, 0, 0};
  ASSERT_TRUE(DecodeScalars(EncodeScalars(scalars), &back).ok());
  EXPECT_EQ(back.missed, scalars.missed);
  back = {};
  ASSERT_TRUE(ScalarsFromJson(ScalarsToJson(scalars), &back).ok());
  EXPECT_EQ(back.missed, scalars.missed);
  for (const std::vector<int64_t>& wrong : {std::vector<int64_t>{0, 42, 0, 0, 0}, {0, -1, 0, 0, 0}, {1, 2, 3}}) {
    scalars.missed = wrong;
    EXPECT_FALSE(DecodeScalars(EncodeScalars(scalars), &back).ok());
    EXPECT_FALSE(ScalarsFromJson(ScalarsToJson(scalars), &back).ok());
  }
}

TEST(ScalarsTest, RefusesEveryTruncationAndExtension) {
  std::vector<uint8_t> bytes = EncodeScalars(SomeScalars());
  StateScalars out = SomeScalars();
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_EQ(DecodeScalars(std::span(bytes).first(n), &out).code(), absl::StatusCode::kInvalidArgument);
  }
  bytes.push_back(0);
  EXPECT_FALSE(DecodeScalars(bytes, &out).ok());
  // A failed decoding leaves its output unchanged.
  EXPECT_TRUE(Same(out, SomeScalars()));
}

TEST(ScalarsTest, RefusesHostileRecords) {
  const auto with = [](size_t at, std::vector<uint8_t> replacement) {
    std::vector<uint8_t> bytes = EncodeScalars(SomeScalars());
    std::copy(replacement.begin(), replacement.end(), bytes.begin() + at);
    return bytes;
  };
  StateScalars out;
  // DecodeScalars must refuse an encoding in which one field is bad: the magic number, a negative step, attempt or
  // cursor, a count far beyond the bytes, an exponent or loss scale out of range, and negative good or skipped steps.
  EXPECT_FALSE(DecodeScalars(with(0, {0}), &out).ok());
  EXPECT_FALSE(DecodeScalars(with(11, {0x80}), &out).ok());
  EXPECT_FALSE(DecodeScalars(with(19, {0x80}), &out).ok());
  EXPECT_FALSE(DecodeScalars(with(27, {0x80}), &out).ok());
  EXPECT_FALSE(DecodeScalars(with(44, {0xff, 0xff, 0xff, 0xff}), &out).ok());
  EXPECT_FALSE(DecodeScalars(with(48, {0xff, 0xff, 0xff, 0x7f}), &out).ok());
  EXPECT_FALSE(DecodeScalars(with(36, {0xff, 0xff, 0xff, 0x7f}), &out).ok());
  EXPECT_FALSE(DecodeScalars(with(43, {0x80}), &out).ok());
  EXPECT_FALSE(DecodeScalars(with(35, {0x80}), &out).ok());
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
           R"({"step":1,"attempt":0,"cursor":16,"exponents":[0],"missed":1})",
           R"({"step":1,"attempt":0,"cursor":16,"exponents":[0],"missed":["1"]})",
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
