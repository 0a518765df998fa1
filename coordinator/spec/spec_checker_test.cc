#include "coordinator/spec/spec_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;

std::vector<std::string> Texts(const Checker& check) {
  std::vector<std::string> texts;
  for (const Problem& problem : check.Problems()) texts.push_back(problem.text);
  return texts;
}

TEST(CheckerTest, AllProblemsAreToldOneAField) {
  Checker check;
  check.Range("spec.seed", -1, 0, 5);
  check.Require(false, "spec.seed", "is wrong in another way too");
  check.Require(true, "spec.team", "is fine");
  check.OneOf("spec.model.kind", "gpu", {"gpt", "mlp"});
  EXPECT_THAT(Texts(check),
              ElementsAre("spec.seed: -1 is out of range: use 0 to 5",
                          "spec.model.kind: 'gpu' is not supported; did you mean 'gpt'? supported: gpt, mlp"));
  EXPECT_EQ(check.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(check.status().message()), EndsWith("supported: gpt, mlp"));
}

TEST(CheckerTest, WhatFollowsFromAnotherMistakeIsNotTold) {
  Checker check;
  check.Refuse("spec.workers.max", "is below the minimum", {"spec.workers.min"});
  check.Refuse("spec.training.micro_batch", "is too much for the model", {"spec.model"});
  check.Refuse("spec.training.steps", "is too few for the table", {"spec.data.table.files"});
  check.Refuse("spec.workers.min", "is negative");
  check.Refuse("spec.model.width", "is negative");
  check.Refuse("spec.data", "is nothing");
  EXPECT_THAT(Texts(check),
              ElementsAre("spec.workers.min: is negative", "spec.model.width: is negative", "spec.data: is nothing"))
      << "whichever of them was found first, and whether a part or the whole of a section is wrong";
}

TEST(CheckerTest, ACircleDoesNotPass) {
  Checker check;
  check.Refuse("spec.seed", "fits not the team", {"spec.team"});
  check.Refuse("spec.team", "fits not the seed", {"spec.seed"});
  EXPECT_THAT(Texts(check), ElementsAre("spec.seed: fits not the team"));
}

TEST(CheckerTest, NamesThatBeginAlikeAreNotParts) {
  Checker check;
  check.Refuse("spec.model.weights", "is no path");
  EXPECT_FALSE(check.Sound({"spec.model.weights"}));
  EXPECT_FALSE(check.Sound({"spec.team", "spec.model"}));
  EXPECT_FALSE(check.Sound({"spec"}));
  EXPECT_TRUE(check.Sound({"spec.model.weights_digest"}));
  EXPECT_TRUE(check.Sound({}));
}

TEST(CheckerTest, ARefusalFromElsewhereIsOfTheFieldThatItNames) {
  Checker check;
  check.Add("spec.goals", absl::OkStatus());
  EXPECT_THAT(check.Problems(), IsEmpty());
  check.Add("spec.goals", absl::FailedPreconditionError("spec.workers.min: 5 are too many"));
  check.Add("name", absl::AlreadyExistsError("job a exists already"));
  check.Add("", absl::ResourceExhaustedError("the disk is full: delete something"));
  EXPECT_THAT(Texts(check), ElementsAre("spec.workers.min: 5 are too many", "name: job a exists already",
                                        "the disk is full: delete something"));
  EXPECT_EQ(check.Problems()[0].field, "spec.workers.min");
  EXPECT_EQ(check.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(CheckerTest, FieldsAreToldFromOtherWords) {
  EXPECT_EQ(FieldOf("spec.goals.off_peak[0].from: '25:00' is not a time"), "spec.goals.off_peak[0].from");
  EXPECT_EQ(FieldOf("spec: has 5 bytes"), "spec");
  EXPECT_EQ(FieldOf("name: is missing"), "name");
  EXPECT_EQ(FieldOf("special: is no field"), "");
  EXPECT_EQ(FieldOf("the state cannot be saved: spec.seed: 5"), "");
  EXPECT_EQ(FieldOf("no colon"), "");
}

TEST(CheckerTest, ValuesOfUsersAreBoundedAndOnOneLine) {
  Checker check;
  check.OneOf("spec.model.kind", std::string(100'000, 'x') + "\nand 5 more", {"gpt"});
  for (int i = 0; i < 5000; ++i) check.Refuse("spec.data.text[" + std::to_string(i) + "]", "is\nno path");
  EXPECT_LT(check.status().message().size(), 6000u);
  EXPECT_THAT(std::string(check.status().message()), EndsWith("\nand 980 more")) << "of the 1000 that are kept";
  EXPECT_EQ(Texts(check)[1], "spec.data.text[0]: is?no path");
}

}  // namespace
}  // namespace rekindle::coordinator
