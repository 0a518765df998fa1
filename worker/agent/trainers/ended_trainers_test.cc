#include "worker/agent/trainers/ended_trainers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::agent {
namespace {

TrainerRecord Record(int number) {
  return {.trainer = absl::StrCat("n1/0/", number), .slot = 0, .job_uid = "a1", .job_name = "job", .log = "/log"};
}

class EndedTrainersTest : public ::testing::Test {
 protected:
  static v1::NodeReport Reported(const EndedTrainers& ended) {
    v1::NodeReport report;
    ended.Report(&report);
    return report;
  }

  common::TemporaryFolder temporary_;
  const NodeFolder folder_ = *NodeFolder::Open(temporary_.path(), 1);
};

TEST_F(EndedTrainersTest, AnEndIsReportedUntilItIsAcknowledged) {
  EndedTrainers ended(&folder_);
  ended.Load();
  ended.Add(Record(1), common::ExitStatus{3}, "exit code 3");
  ASSERT_EQ(Reported(ended).trainers_size(), 1);
  EXPECT_EQ(Reported(ended).trainers(0).exit_code(), 3);
  EXPECT_EQ(Reported(ended).trainers(0).exit_reason(), "exit code 3");
  EXPECT_NE(ended.Find("n1/0/1"), nullptr);
  ended.Acknowledge("n1/0/2");
  EXPECT_EQ(Reported(ended).trainers_size(), 1);
  ended.Acknowledge("n1/0/1");
  EXPECT_EQ(Reported(ended).trainers_size(), 0);
  EXPECT_EQ(ended.Find("n1/0/1"), nullptr);
}

TEST_F(EndedTrainersTest, TheNextAgentReportsIt) {
  {
    EndedTrainers ended(&folder_);
    ended.Load();
    ended.Add(Record(1), common::ExitStatus{-9}, "killed");
    ended.Add(Record(2), common::ExitStatus{0}, "exit code 0");
    ended.Acknowledge("n1/0/1");
  }
  std::ofstream(folder_.EndedFolder() + "/damaged.json") << "{";
  EndedTrainers next(&folder_);
  next.Load();
  ASSERT_EQ(next.records().size(), 1u);
  EXPECT_EQ(next.records().front().trainer, "n1/0/2");
  EXPECT_FALSE(std::filesystem::exists(folder_.EndedFolder() + "/damaged.json"));
}

TEST_F(EndedTrainersTest, TheOldestAreForgotten) {
  EndedTrainers ended(&folder_);
  ended.Load();
  constexpr int kMost = static_cast<int>(EndedTrainers::kMost);
  for (int i = 0; i <= kMost; ++i) ended.Add(Record(i), common::ExitStatus{0}, "");
  EXPECT_EQ(Reported(ended).trainers_size(), kMost);
  EXPECT_EQ(ended.records().front().trainer, "n1/0/1");
  EndedTrainers next(&folder_);
  next.Load();
  EXPECT_EQ(next.Find("n1/0/0"), nullptr);
}

}  // namespace
}  // namespace rekindle::agent
