#include "common/spec/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rekindle/v1/job.pb.h"

namespace rekindle::common {
namespace {

using testing::HasSubstr;

absl::Status Parse(const std::string& text, v1::Job* job) { return ParseYaml(text, "job.yaml", job); }

std::string ErrorOf(const std::string& text) {
  v1::Job job;
  return std::string(Parse(text, &job).message());
}

TEST(YamlTest, ReadsEveryKindOfField) {
  v1::Job job;
  ASSERT_TRUE(Parse(R"(
name: gpt
spec:
  seed: 7
  workers: {min: 1, max: 3}
  data:
    text: [a.txt, "b/*.h"]
    validation_fraction: 0.1
  training: {steps: 1e3, reduce: exact}
)",
                    &job)
                  .ok());
  EXPECT_EQ(job.name(), "gpt");
  EXPECT_EQ(job.spec().seed(), 7);
  EXPECT_EQ(job.spec().workers().max(), 3);
  EXPECT_EQ(job.spec().data().text_size(), 2);
  EXPECT_EQ(job.spec().data().text(1), "b/*.h");
  EXPECT_DOUBLE_EQ(job.spec().data().validation_fraction(), 0.1);
  EXPECT_EQ(job.spec().training().steps(), 1000);
}

TEST(YamlTest, OneValueMayStandForAList) {
  v1::Job job;
  ASSERT_TRUE(Parse("spec: {data: {text: only.txt}}", &job).ok());
  ASSERT_EQ(job.spec().data().text_size(), 1);
  EXPECT_EQ(job.spec().data().text(0), "only.txt");
}

TEST(YamlTest, JsonIsYaml) {
  v1::Job job;
  ASSERT_TRUE(Parse(R"({"name": "a", "spec": {"training": {"steps": 5}}})", &job).ok());
  EXPECT_EQ(job.spec().training().steps(), 5);
}

TEST(YamlTest, AnUnknownFieldNamesLinePathAndTheNearestKnownOne) {
  EXPECT_EQ(ErrorOf("name: a\nspec:\n  training:\n    stepps: 5\n"),
            "job.yaml:4: `spec.training.stepps` is not a field; did you mean `steps`?");
  EXPECT_THAT(ErrorOf("spec: {workers: {zzzzzzzzzzzz: 1}}"),
              HasSubstr("known fields here: min, max, threads_per_rank"));
}

TEST(YamlTest, AutoIsZeroWhereTheProtoSaysSo) {
  for (const char* text :
       {"spec: {training: {micro_batch: auto}}", R"({"spec": {"training": {"micro_batch": "auto"}}})",
        "spec: {training: {micro_batch: 0}}"}) {
    v1::Job job;
    ASSERT_TRUE(Parse(text, &job).ok()) << text;
    EXPECT_TRUE(job.spec().training().has_micro_batch()) << text;
    EXPECT_EQ(job.spec().training().micro_batch(), 0) << text;
  }
  EXPECT_THAT(ErrorOf("spec: {training: {micro_batch: much}}"),
              HasSubstr("must be a whole number or auto, not 'much'"));
  EXPECT_THAT(ErrorOf("spec: {training: {steps: auto}}"), HasSubstr("must be a whole number, not 'auto'"));
}

TEST(YamlTest, WrongTypesSayWhatWouldBeRight) {
  EXPECT_EQ(ErrorOf("spec: {training: {steps: many}}"),
            "job.yaml:1: `spec.training.steps` must be a whole number, not 'many'");
  EXPECT_THAT(ErrorOf("spec: {training: {steps: 1.5}}"), HasSubstr("must be a whole number"));
  EXPECT_THAT(ErrorOf("spec: {training: {steps: 99999999999}}"), HasSubstr("must be a whole number"));
  EXPECT_THAT(ErrorOf("spec: {training: {steps: \"5\"}}"), HasSubstr("must be a whole number"));
  EXPECT_THAT(ErrorOf("spec: {training: {clip_norm: .nan}}"), HasSubstr("must be a number"));
  EXPECT_THAT(ErrorOf("spec: {training: [1]}"), HasSubstr("must be a mapping of fields"));
  EXPECT_THAT(ErrorOf("name: {a: b}"), HasSubstr("must be a single value"));
  EXPECT_THAT(ErrorOf("status: {state: WONDERFUL}"), HasSubstr("has no value 'WONDERFUL'"));
}

TEST(YamlTest, WhatIsNoJobIsRefused) {
  EXPECT_THAT(ErrorOf("name: a\nname: b\n"), HasSubstr("`name` is given twice"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("is empty"));
  EXPECT_THAT(ErrorOf("{a: [b"), HasSubstr("not valid YAML"));
  EXPECT_THAT(ErrorOf("just words"), HasSubstr("must be a mapping"));
  EXPECT_THAT(ErrorOf(std::string(kMaxYamlBytes + 1, ' ')), HasSubstr("at most"));
}

}  // namespace
}  // namespace rekindle::common
