#include "cli/job_file/problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/text/problem_list.h"

namespace rekindle::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

JobDocument Document() {
  JobDocument document;
  document.line = 3;
  document.lines = {{"name", 3}, {"spec", 4}, {"spec.data", 5}, {"spec.data.text", 6}, {"spec.data.text[1]", 8}};
  document.flags = {{"spec.training.steps", "--set training.steps=5"}};
  return document;
}

std::string Told(const std::vector<std::string>& texts) {
  Problems problems("job.yaml");
  for (const std::string& text : texts) problems.Add(Document(), text);
  return std::string(problems.ToStatus().message());
}

TEST(ProblemsTest, EachIsAtTheLineOfItsField) {
  EXPECT_EQ(Told({"spec.data.text[1]: is no path"}), "job.yaml:8: spec.data.text[1]: is no path");
  EXPECT_EQ(Told({"spec.data.text[0]: is no path"}), "job.yaml:6: spec.data.text[0]: is no path") << "one for a list";
  EXPECT_EQ(Told({"spec.model.kind: is"}), "job.yaml:4: spec.model.kind: is") << "of what should have it";
  EXPECT_EQ(Told({"spec.training.steps: is"}), "--set training.steps=5: spec.training.steps: is");
  EXPECT_EQ(Told({"the disk is full"}), "the disk is full");
}

TEST(ProblemsTest, TheyAreSortedByLineAndToldOnce) {
  EXPECT_EQ(Told({"spec.data.text: is", "name: is", "spec: is", "name: is", "spec.training.steps: is", "other"}),
            "job.yaml has 5 problems:\n--set training.steps=5: spec.training.steps: is\nother\njob.yaml:3: name: is\n"
            "job.yaml:4: spec: is\njob.yaml:6: spec.data.text: is");
}

TEST(ProblemsTest, ARefusalMayHaveManyAndCountMore) {
  Problems problems("job.yaml");
  problems.AddRefusal(Document(), absl::InvalidArgumentError("spec.data: is\nname: is\nand 7 more"));
  EXPECT_EQ(std::string(problems.ToStatus().message()),
            "job.yaml has 9 problems:\njob.yaml:3: name: is\njob.yaml:5: spec.data: is\nand 7 more");
  std::vector<std::string> many;
  for (size_t i = 0; i < common::kMostProblemsTold + 4; ++i) many.push_back(absl::StrCat("spec: is ", i));
  EXPECT_THAT(Told(many), testing::EndsWith("spec: is 19\nand 4 more"));
}

TEST(ProblemsTest, TextOfOthersDrivesNoTerminal) {
  EXPECT_THAT(Told({"spec: \x1b[31m is red\n  below: \x1b[0m"}), Not(HasSubstr("\x1b")));
  EXPECT_EQ(Told({"spec: does not fit\nmissing:\n  a"}), "job.yaml:4: spec: does not fit\nmissing:\n  a");
}

TEST(ProblemsTest, OneNameIsForOneJobOfAFile) {
  JobDocuments file{.source = "job.yaml", .documents = {Document(), Document(), Document()}};
  for (JobDocument& document : file.documents) document.job.set_name("a");
  file.documents[1].job.set_name("b");
  file.documents[2].lines["name"] = 20;
  Problems problems("job.yaml");
  problems.AddNamesGivenTwice(file);
  EXPECT_EQ(std::string(problems.ToStatus().message()),
            "job.yaml:20: name: the job at line 3 has the name a too: choose another");
}

TEST(ProblemsTest, WhatIsNoRefusalIsNotOfTheFile) {
  EXPECT_TRUE(IsRefusal(absl::InvalidArgumentError("")));
  EXPECT_TRUE(IsRefusal(absl::AlreadyExistsError("")));
  EXPECT_FALSE(IsRefusal(absl::UnavailableError("")));
  EXPECT_FALSE(IsRefusal(absl::UnauthenticatedError("")));
  EXPECT_FALSE(IsRefusal(absl::OkStatus()));
}

}  // namespace
}  // namespace rekindle::cli
