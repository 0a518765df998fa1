// Tests interruption notices that an operator gives by a file or by a command.
#include "worker/agent/notices/operator_notices.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/time/clock.h"

namespace rekindle::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(NoticeLine, HasSecondsAndAReasonOrOneOrNone) {
  EXPECT_FALSE(ParseNoticeLine("31e99s maintenance", 1000).at.has_value());
  const Notice both = ParseNoticeLine("90s the host is drained\nmore", 1000);
  EXPECT_EQ(both.at, 1090);
  EXPECT_EQ(both.what, "the host is drained");
  EXPECT_EQ(ParseNoticeLine("2m", 1000).at, 1120);
  EXPECT_EQ(ParseNoticeLine("2m", 1000).what, "asked by its operator");
  const Notice reason = ParseNoticeLine("hypervisor update", 1000);
  EXPECT_FALSE(reason.at.has_value());
  EXPECT_EQ(reason.what, "hypervisor update");
  EXPECT_EQ(ParseNoticeLine("", 0).what, "asked by its operator");
  EXPECT_EQ(ParseNoticeLine("\x1b[31m\xff" + std::string(500, 'x'), 0).what.size(), 120u);
  EXPECT_EQ(ParseNoticeLine("\x1b\xff", 0).what, "??");
}

class FileTest : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }
  const std::string path_ = testing::TempDir() + "/notice_" + std::to_string(getpid());
};

TEST_F(FileTest, StandsWhileItIsThere) {
  const auto source = NewFileSource(path_);
  EXPECT_THAT(*source->Poll(0), IsEmpty());
  std::ofstream(path_) << "30s maintenance\n";
  const auto notices = source->Poll(0);
  ASSERT_TRUE(notices.ok()) << notices.status();
  EXPECT_EQ(notices->front().what, "maintenance");
  EXPECT_NEAR(*notices->front().at, common::WallSeconds() + 30, 5);
  EXPECT_EQ(*source->Poll(9), *notices);
  std::remove(path_.c_str());
  EXPECT_THAT(*source->Poll(10), IsEmpty());
}

TEST_F(FileTest, WhatIsNoFileIsAnErrorAndBlocksNobody) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(std::string(NewFileSource(path_)->Poll(0).status().message()), HasSubstr("no file"));
}

TEST(CommandTest, ALineIsANoticeAndItsSecondsCountFromItsFirstSight) {
  const auto source = NewCommandSource("echo 20s reclaimed; echo noise >&2");
  const auto notices = source->Poll(1000);
  ASSERT_TRUE(notices.ok()) << notices.status();
  EXPECT_EQ(notices->front().what, "reclaimed");
  EXPECT_EQ(notices->front().at, 1020);
  EXPECT_EQ(source->Poll(1005)->front().at, 1020);
}

TEST(CommandTest, NothingPrintedIsNoNotice) { EXPECT_THAT(*NewCommandSource("true")->Poll(0), IsEmpty()); }

TEST(CommandTest, AFailureIsNoWithdrawal) {
  EXPECT_THAT(std::string(NewCommandSource("echo 5s x; exit 3")->Poll(0).status().message()), HasSubstr("exit code 3"));
}

TEST(CommandTest, OneThatHangsIsKilledWithAllItStarted) {
  const double begun = common::SteadySeconds();
  const auto heard = NewCommandSource("sleep 1000 & sleep 1000", 0.2)->Poll(0);
  EXPECT_TRUE(absl::IsDeadlineExceeded(heard.status())) << heard.status();
  EXPECT_LT(common::SteadySeconds() - begun, 20);
}

TEST(CommandTest, WhatItPrintsIsBounded) {
  const auto heard = NewCommandSource("yes | head -c 1000000", 20)->Poll(0);
  // A command that prints too much either dies of the closed pipe, or its line is cut short.
  EXPECT_TRUE(heard.ok() ? heard->front().what.size() <= 120 : absl::IsUnavailable(heard.status())) << heard.status();
}

}  // namespace
}  // namespace rekindle::agent
