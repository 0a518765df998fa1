#include "common/spec/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>

#include "rekindle/v1/job.pb.h"

namespace rekindle::common {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

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
  EXPECT_THAT(ErrorOf("# nothing\n---\n---\n"), HasSubstr("is empty"));
  EXPECT_THAT(ErrorOf("{a: [b"), HasSubstr("not valid YAML"));
  EXPECT_THAT(ErrorOf("just words"), HasSubstr("the document must be a mapping of fields, as `name: value`, and is a "
                                               "single value"));
  EXPECT_THAT(ErrorOf("[a, b]"), HasSubstr("and is a list"));
  EXPECT_THAT(ErrorOf(std::string(kMaxYamlBytes + 1, ' ')), HasSubstr("at most"));
}

TEST(YamlTest, AKeyThatIsNoNameIsCalledThat) {
  for (const char* text : {": : :", ": 5", "\"\": 5", "~: 5"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("job.yaml:1: the document has a `:` without the name of a field before it: "
                                         "write `name: value`; known fields here: name, uid, spec, status"))
        << text;
  }
  EXPECT_THAT(ErrorOf("name: a\nspec:\n  : 5\n"), HasSubstr("job.yaml:3: `spec` has a `:` without the name"));
  EXPECT_THAT(ErrorOf("[a, b]: 5"), HasSubstr("has a list where the name of a field is due"));
  EXPECT_THAT(ErrorOf("name:\n"), HasSubstr("`name` has no value: give it one, or leave the field out"));
}

TEST(YamlTest, AllProblemsAreToldByLine) {
  EXPECT_EQ(ErrorOf("nam: a\nspec:\n  training:\n    steps: many\n    reduce: exact\n  seeed: 1\n"),
            "job.yaml:1: `nam` is not a field; did you mean `name`?\n"
            "job.yaml:4: `spec.training.steps` must be a whole number, not 'many'\n"
            "job.yaml:6: `spec.seeed` is not a field; did you mean `seed`?");
  std::string many;
  for (int i = 0; i < 30; ++i) many += "wrong" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(ErrorOf(many), HasSubstr("job.yaml:20: "));
  EXPECT_THAT(ErrorOf(many), testing::EndsWith("\nand 10 more"));
}

TEST(YamlTest, ValuesAreShownShortAndOnOneLine) {
  const std::string error = ErrorOf("spec: {training: {steps: \"" + std::string(5000, 'x') + "\"}}");
  EXPECT_LT(error.size(), 300u);
  EXPECT_THAT(ErrorOf("\"spec\\nname\": 1"), HasSubstr("`spec?name` is not a field"));
}

TEST(YamlTest, AnchorsMultiplyNothingWithoutEnd) {
  std::string text = "spec: {goals: {off_peak: [&w {days: [";
  for (int i = 0; i < 9000; ++i) text += "mon,";
  text += "mon]}";
  for (int i = 0; i < 9000; ++i) text += ",*w";
  EXPECT_THAT(ErrorOf(text + "]}}"), HasSubstr("has more than 100000 values; the rest is not read"));
}

TEST(YamlTest, OneMessageIsOfOneDocument) {
  v1::Job job;
  EXPECT_TRUE(Parse("---\nname: a\n---\n", &job).ok());
  EXPECT_EQ(job.name(), "a");
  EXPECT_EQ(ErrorOf("name: a\n---\nname: b\n"),
            "job.yaml:3: a second document begins here, and one alone is read: remove it");
}

class DocumentsTest : public testing::Test {
 protected:
  void Read(const std::string& text) {
    documents_ = ParseYamlDocuments(text, "job.yaml", [this] { return &jobs_.emplace_back(); });
  }

  std::list<v1::Job> jobs_;
  absl::StatusOr<std::vector<YamlDocument>> documents_;
};

TEST_F(DocumentsTest, EachIsAMessageAndEmptyOnesAreNone) {
  Read("name: a\n---\n# nothing\n---\n\nname: b\nspec: {data: {text: [x, y]}}\n...\n---\n");
  ASSERT_TRUE(documents_.ok()) << documents_.status();
  ASSERT_THAT(*documents_, SizeIs(2));
  EXPECT_EQ(jobs_.front().name(), "a");
  EXPECT_EQ(jobs_.back().name(), "b");
  EXPECT_EQ((*documents_)[0].line, 1);
  EXPECT_EQ((*documents_)[1].line, 6);
  EXPECT_EQ((*documents_)[1].lines.at("name"), 6);
  EXPECT_EQ((*documents_)[1].lines.at("spec.data.text[1]"), 7);
  EXPECT_EQ((*documents_)[1].lines.count("spec.model"), 0u);
}

TEST_F(DocumentsTest, OneThatIsWrongSpoilsNoOther) {
  Read("nme: a\n---\nname: b\n---\nspec: {seed: x, team: t}\n");
  ASSERT_THAT(*documents_, SizeIs(3));
  EXPECT_THAT((*documents_)[0].problems, SizeIs(1));
  EXPECT_THAT((*documents_)[1].problems, SizeIs(0));
  ASSERT_THAT((*documents_)[2].problems, SizeIs(1));
  EXPECT_EQ((*documents_)[2].problems[0].line, 5);
  EXPECT_EQ((*documents_)[2].problems[0].field, "spec.seed");
  EXPECT_EQ(jobs_.back().spec().team(), "t") << "the rest of it is read";
}

TEST_F(DocumentsTest, TheirNumberIsBounded) {
  std::string text;
  for (int i = 0; i < kMaxYamlDocuments; ++i) text += "---\nname: a\n";
  Read(text);
  ASSERT_THAT(*documents_, SizeIs(kMaxYamlDocuments));
  Read(text + "...\nname: b\n");
  EXPECT_THAT(std::string(documents_.status().message()), HasSubstr("has more than 100 documents"));
}

std::string SetError(const std::string& path, const std::string& value, v1::Job* job) {
  return std::string(SetYamlField(path, value, job).message());
}

TEST(SetYamlFieldTest, SetsWhatThePathNames) {
  v1::Job job;
  job.mutable_spec()->mutable_data()->add_text("a");
  job.mutable_spec()->mutable_data()->add_text("b");
  ASSERT_TRUE(SetYamlField("spec.training.steps", "1e3", &job).ok());
  ASSERT_TRUE(SetYamlField("spec.training.micro_batch", "auto", &job).ok());
  ASSERT_TRUE(SetYamlField("spec.data.text", "c", &job).ok());
  ASSERT_TRUE(SetYamlField("spec.team", "\"5\"", &job).ok());
  EXPECT_EQ(job.spec().training().steps(), 1000);
  EXPECT_TRUE(job.spec().training().has_micro_batch());
  EXPECT_THAT(job.spec().data().text(), ElementsAre("c"));
  EXPECT_EQ(job.spec().team(), "5");
}

TEST(SetYamlFieldTest, WhatIsWrongChangesNothing) {
  v1::Job job;
  job.mutable_spec()->set_seed(7);
  const std::string before = job.SerializeAsString();
  EXPECT_EQ(SetError("spec.trainin.steps", "5", &job), "`spec.trainin` is not a field; did you mean `training`?");
  EXPECT_EQ(SetError("spec.training.steps", "many", &job), "`spec.training.steps` must be a whole number, not 'many'");
  EXPECT_THAT(SetError("spec.training.steps", "", &job), HasSubstr("has no value"));
  EXPECT_THAT(SetError("spec.training.steps", "[1, 2]", &job), HasSubstr("must be a single value, and is a list"));
  EXPECT_THAT(SetError("spec.training.steps", "{a: [", &job), HasSubstr("must be a YAML value"));
  EXPECT_EQ(SetError("spec.early_stop", "5", &job),
            "`spec.early_stop` is a section: name a field of it, as spec.early_stop.patience");
  EXPECT_THAT(SetError("spec.seed.deep", "5", &job), HasSubstr("`spec.seed` is a single value, without fields"));
  EXPECT_THAT(SetError("spec.goals.off_peak.from", "5", &job), HasSubstr("`spec.goals.off_peak` is a list"));
  EXPECT_THAT(SetError("", "5", &job), HasSubstr("is not a field; known fields here: name"));
  EXPECT_EQ(job.SerializeAsString(), before);
}

}  // namespace
}  // namespace rekindle::common
