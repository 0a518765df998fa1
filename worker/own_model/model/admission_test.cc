#include "worker/own_model/model/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace rekindle::own_model {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Describes a module with a matrix, its bias, and a counter.
Description Described() {
  Description description;
  description.layout.parameters = {
      {.name = "layer.weight", .shape = {4, 3}, .offset = 0, .size = 12, .decay = true},
      {.name = "layer.bias", .shape = {4}, .offset = 12, .size = 4},
      {.name = "calls", .shape = {}, .offset = 16, .size = 1, .momentum = 1, .rule = train::BufferRule::kFirst}};
  description.layout.total = 17;
  description.dtypes = {"float32", "float32", "int64"};
  return description;
}

std::string Refused(const JobFacts& job, Description description) {
  const absl::Status status = Admit(job, &description);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

TEST(AdmissionTest, GroupsDecideAboutRateAndWeightDecay) {
  const JobFacts job{.learning_rate = 0.5, .weight_decay = 0.1};
  Description description = Described();
  description.groups = {{.pattern = "*.bias", .options = {{"weight_decay", "0.2"}}},
                        {.pattern = "layer.*", .options = {{"learning_rate", "0.25"}, {"weight_decay", "0.0"}}}};
  ASSERT_TRUE(Admit(job, &description).ok());
  const std::vector<train::ParameterInfo>& parameters = description.layout.parameters;
  EXPECT_EQ(parameters[0].rate, 0.5) << "a rate is a share of the job's";
  EXPECT_EQ(parameters[0].own_weight_decay, 0.0);
  EXPECT_EQ(parameters[1].rate, 1) << "the first pattern that matches decides";
  EXPECT_EQ(parameters[1].own_weight_decay, 0.2);
  EXPECT_EQ(parameters[2].rate, 1) << "a buffer is not trained";
  EXPECT_EQ(parameters[2].own_weight_decay, std::nullopt);
}

TEST(AdmissionTest, AGroupMaySayThatTheDecayOfTheJobAppliesOrNot) {
  Description description = Described();
  description.groups = {{.pattern = "*.bias", .options = {{"weight_decay", "true"}}},
                        {.pattern = "*.weight", .options = {{"weight_decay", "false"}}}};
  ASSERT_TRUE(Admit({.weight_decay = 0.1}, &description).ok());
  for (const bool is_bias : {false, true}) {
    EXPECT_EQ(description.layout.parameters[is_bias].decay, is_bias);
    EXPECT_EQ(description.layout.parameters[is_bias].own_weight_decay, std::nullopt);
  }
}

TEST(AdmissionTest, WhatTheOptimizerCannotDoForAPartIsRefused) {
  Description description = Described();
  description.groups = {{.pattern = "*.bias", .options = {{"momentum", "0.5"}}}};
  EXPECT_THAT(Refused({}, description), AllOf(HasSubstr("momentum"), HasSubstr("*.bias")));
  for (const char* name : {"learning_rate", "weight_decay"}) {
    for (const char* value : {"-0.1", "101", "nan", "null", "\"none\""}) {
      description.groups = {{.pattern = "*", .options = {{name, value}}}};
      EXPECT_THAT(Refused({}, description), AllOf(HasSubstr(value), HasSubstr("from 0 to 100")));
    }
  }
  description.groups = {{.pattern = "*", .options = {{"learning_rate", "true"}}}};
  EXPECT_THAT(Refused({}, description), HasSubstr("true"));
}

TEST(AdmissionTest, CoupledSamplesNeedASizeThatStays) {
  Description description = Described();
  description.couples_samples = true;
  EXPECT_TRUE(Admit({}, &description).ok());
  EXPECT_THAT(Refused({.tries_sizes = true}, description), HasSubstr("training.micro_batch"));
  EXPECT_TRUE(MayResize(description, 8, 8).ok());
  const absl::Status cut = MayResize(description, 8, 4);
  EXPECT_TRUE(absl::IsInvalidArgument(cut));
  EXPECT_THAT(std::string(cut.message()), HasSubstr("training.micro_batch: 4"));
  EXPECT_TRUE(MayResize(Described(), 8, 4).ok());
  Description free = Described();
  EXPECT_TRUE(Admit({.tries_sizes = true}, &free).ok());
}

TEST(AdmissionTest, WithoutValidationDataNothingCanBeEvaluated) {
  Description description = Described();
  EXPECT_TRUE(MayEvaluate(description, 0).ok());
  const absl::Status refused = MayEvaluate(description, 10);
  EXPECT_TRUE(absl::IsInvalidArgument(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("no validation data; give the Task validation="));
  description.validation_samples = 1;
  EXPECT_TRUE(MayEvaluate(description, 10).ok());
}

TEST(AdmissionTest, AModuleThatCannotHaveRoomIsRefused) {
  Description description = Described();
  // 17 values need 28 bytes each.
  EXPECT_TRUE(Admit({.memory_bytes = 17 * 28}, &description).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Admit({.memory_bytes = 17 * 28 - 1}, &description)));
  EXPECT_TRUE(Admit({.exact = false, .memory_bytes = 17 * 20}, &description).ok());
  description.frozen = {{.name = "teacher", .bytes = 1000}};
  EXPECT_TRUE(absl::IsResourceExhausted(Admit({.memory_bytes = 17 * 28}, &description)));
  EXPECT_TRUE(Admit({.memory_bytes = 17 * 28 + 1000}, &description).ok());
  // A process may claim whatever it likes. No machine has so much memory.
  description.layout.total = int64_t{1} << 40;
  EXPECT_TRUE(absl::IsResourceExhausted(Admit({}, &description)));
}

}  // namespace
}  // namespace rekindle::own_model
