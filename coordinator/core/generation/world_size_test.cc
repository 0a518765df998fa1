// Checks that no generation has more members than the largest world size, whatever a job asks for and however many
// nodes there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/core/scenario/scenario.h"

namespace rekindle::core {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr int kMost = 64;

class WorldSizeTest : public testing::Test {
 protected:
  // The numbers in the names of nodes, such as "n007", have leading zeros, so that the nodes sort by their numbers.
  static std::string Node(int i) { return absl::StrCat("n", absl::Dec(i, absl::kZeroPad3)); }
  static std::string Trainers(int first, int count) {
    std::string names;
    for (int i = first; i < first + count; ++i) absl::StrAppend(&names, i == first ? "" : ",", Node(i), "/0");
    return names;
  }
  void AddNodes(int first, int count) {
    for (int i = first; i < first + count; ++i) Run(absl::StrCat("node ", Node(i), " up"));
  }
  // Runs a line of the scenario. Returns what it printed, and remembers how many ranks the newest generation in it has.
  std::vector<std::string> Run(const std::string& line) {
    std::vector<std::string> said = scenario_.Run(line);
    for (const std::string& one : said) {
      if (absl::StartsWith(one, "generation ")) ranks_ = 0;
      ranks_ += absl::StartsWith(one, "  rank ");
    }
    return said;
  }
  std::string Status() { return Run("status").front(); }

  Scenario scenario_;
  int ranks_ = 0;
};

TEST_F(WorldSizeTest, NodesBeyondItAreSpares) {
  // The job sets no highest number of workers.
  Run("submit job micro_batches=200 steps=10");
  AddNodes(0, kMost);
  Run(absl::StrCat("trainer ", Trainers(0, kMost)));
  Run("tick 2");
  EXPECT_EQ(ranks_, kMost);
  Run("follow all");
  Run("steps all 1");
  EXPECT_THAT(Run(absl::StrCat("node ", Node(kMost), " up")), Contains(HasSubstr("<- nothing to run")));
  EXPECT_THAT(Run(absl::StrCat("trainer ", Trainers(kMost, 1))), Not(Contains(HasSubstr("YIELD"))));
  EXPECT_THAT(Status(), HasSubstr("RUNNING, generation 1, step 1"));
  // The spare node takes the place of a member that dies.
  Run(absl::StrCat("node ", Node(3), " exit ", Node(3), "/0 -9"));
  for (int i = 0; i < kMost; ++i) {
    if (i != 3) Run(absl::StrCat("interrupt ", Node(i), "/0"));
  }
  EXPECT_EQ(ranks_, kMost - 1);
  Run("follow all");
  Run("steps all 1");
  Run("follow all");
  EXPECT_EQ(ranks_, kMost);
  EXPECT_THAT(Status(), HasSubstr("RUNNING, generation 3, step 2"));
}

// A job may ask for more workers than the largest world size allows, because an earlier release accepted it.
TEST_F(WorldSizeTest, AHigherMinimumAndMaximumAreTakenForIt) {
  Run("submit job micro_batches=200 min=65 max=4096");
  AddNodes(0, kMost + 1);
  Run(absl::StrCat("trainer ", Trainers(0, kMost + 1)));
  Run("tick 2");
  EXPECT_EQ(ranks_, kMost);
}

TEST_F(WorldSizeTest, HandingOnToOthersHasNoMoreRanks) {
  Run("submit job micro_batches=200 max=64 min=64");
  AddNodes(0, kMost);
  Run(absl::StrCat("trainer ", Trainers(0, kMost)));
  EXPECT_EQ(ranks_, kMost);
  Run("follow all");
  Run("steps all 1");
  for (int i = 0; i < kMost; ++i) Run(absl::StrCat("drain ", Node(i)));
  AddNodes(kMost, kMost);
  Run(absl::StrCat("trainer ", Trainers(kMost, kMost)));
  Run("follow all");
  EXPECT_THAT(Status(), HasSubstr("RUNNING, generation 2, step 1"));
  EXPECT_LE(ranks_, kMost);
}

TEST_F(WorldSizeTest, NoMoreIsOrderedOfPools) {
  Run("prices a=spot:1:3:100 b=spot:1.5:3:100");
  const auto said = Run("submit job micro_batches=200 min=1 max=100 store=s");
  EXPECT_THAT(said, Contains("order a: 64 nodes"));
  EXPECT_THAT(said, Not(Contains(HasSubstr("order b"))));
}

}  // namespace
}  // namespace rekindle::core
