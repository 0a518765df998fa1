#include "coordinator/fleet/providers/contract/scale_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace rekindle::fleet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Calls EndNamedThenResize for a group of three machines, and records what it asks of the cloud.
class ScaleGroupTest : public testing::Test {
 protected:
  absl::Status Resize(int nodes, const std::vector<std::string>& release) {
    return EndNamedThenResize(
        listing_, nodes, release,
        [this](const std::vector<Machine>& machines) {
          for (const Machine& machine : machines) asked_.push_back("end " + machine.id);
          return refusal_;
        },
        [this, nodes] {
          asked_.push_back(absl::StrCat("resize to ", nodes));
          return absl::OkStatus();
        });
  }

  Listing listing_{.machines = {{.id = "1", .node = "a"},
                                {.id = "2", .node = "b", .state = MachineState::kEnding},
                                {.id = "3", .node = "c"}},
                   .desired = 3};
  absl::Status refusal_;
  std::vector<std::string> asked_;
};

TEST_F(ScaleGroupTest, NamedMachinesEndInsteadOfAnyOthers) {
  EXPECT_TRUE(Resize(2, {"c"}).ok());
  EXPECT_THAT(asked_, ElementsAre("end 3"));
}

TEST_F(ScaleGroupTest, NoMoreAreEndedThanTheGroupHasTooMany) {
  EXPECT_TRUE(Resize(2, {"a", "c"}).ok());
  EXPECT_THAT(asked_, ElementsAre("end 1"));
}

TEST_F(ScaleGroupTest, TheGroupIsResizedWhereNamesAreNotEnough) {
  EXPECT_TRUE(Resize(1, {"c"}).ok());
  EXPECT_THAT(asked_, ElementsAre("end 3", "resize to 1"));
}

TEST_F(ScaleGroupTest, WhatEndsAlreadyIsNotEndedAgain) {
  EXPECT_TRUE(Resize(2, {"b", "unknown"}).ok());
  EXPECT_THAT(asked_, ElementsAre("resize to 2"));
}

TEST_F(ScaleGroupTest, AGroupOfTheRightSizeIsLeftAlone) {
  EXPECT_TRUE(Resize(3, {"a"}).ok());
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(ScaleGroupTest, ARefusedEndIsTheAnswer) {
  refusal_ = absl::PermissionDeniedError("no");
  EXPECT_EQ(Resize(1, {"a"}), refusal_);
  EXPECT_THAT(asked_, ElementsAre("end 1"));
}

}  // namespace
}  // namespace rekindle::fleet
