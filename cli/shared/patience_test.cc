#include "cli/shared/patience.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/text/log_text.h"
#include "cli/text/number_text.h"

namespace rekindle::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class PatienceTest : public testing::Test {
 protected:
  double now_ = 1000;
  int pauses_ = 0;
  std::ostringstream said_;
  Patience patience_{"host:1", {[this] { return now_; }, [this] { ++pauses_; }, &said_}};
};

TEST_F(PatienceTest, ACoordinatorThatWasNeverThereIsNotWaitedFor) {
  EXPECT_FALSE(patience_.Waits(absl::UnavailableError("no")));
  EXPECT_EQ(said_.str(), "");
}

TEST_F(PatienceTest, OneThatGoesAwayIsWaitedForAndThatIsSaidOnce) {
  patience_.Heard();
  // For 10,000 s the coordinator was there but had nothing to send. This does not count as time that it was away.
  now_ += 10'000;
  for (int i = 0; i < 100; ++i, now_ += 0.5) EXPECT_TRUE(patience_.Waits(absl::UnavailableError("gone"))) << i;
  EXPECT_EQ(pauses_, 100);
  EXPECT_EQ(said_.str(), "rekindle: the coordinator at host:1 is away; waiting for it, for 60 s at most\n");
  patience_.Heard();
  EXPECT_THAT(said_.str(), EndsWith("is back\n"));
  EXPECT_TRUE(patience_.Waits(absl::CancelledError("stops"))) << "the time counts anew";
  now_ += 61;
  EXPECT_FALSE(patience_.Waits(absl::UnavailableError("gone")));
}

TEST_F(PatienceTest, WhatItRefusesIsTheEnd) {
  patience_.Heard();
  EXPECT_FALSE(patience_.Waits(absl::NotFoundError("no such job")));
  EXPECT_FALSE(patience_.Waits(absl::OkStatus()));
}

TEST(LogText, ALineCannotDriveTheTerminal) {
  v1::LogLine line;
  line.set_trainer("n1/0/ab");
  line.set_text("loss\t1 \x1b[2J");
  EXPECT_EQ(LogText(line, 0), "n1/0/ab: loss\t1 ?[2J");
}

TEST(LogText, SaysWhatIsMissing) {
  const double now = 1.7e9;
  v1::LogLine line;
  line.set_trainer("n2/0/ab");
  v1::LogGap& gap = *line.mutable_gap();
  gap.set_reason(v1::LogGap::NOT_KEPT);
  gap.set_lines(1234);
  EXPECT_EQ(LogText(line, now), "... 1234 older lines are not kept");
  gap.set_lines(1);
  EXPECT_EQ(LogText(line, now), "... 1 older line is not kept");
  gap.set_reason(v1::LogGap::LOST_WITH_NODE);
  gap.set_after(now);
  EXPECT_EQ(LogText(line, now), "... lines of n2/0 after " + LocalTime(now).substr(11) + " were lost with its node");
  gap.set_after(now - 3 * 86400);
  EXPECT_THAT(LogText(line, now), HasSubstr(" after " + LocalTime(now - 3 * 86400) + " were"));
  gap.set_reason(v1::LogGap::NOT_KEPT_BY_NODE);
  gap.set_bytes(5e9);
  EXPECT_EQ(LogText(line, now), "... 5000000000 bytes of lines of n2/0 were not kept by its node");
  gap.set_reason(v1::LogGap::DAMAGED);
  gap.set_lines(2);
  EXPECT_EQ(LogText(line, now), "... 2 lines are damaged on the coordinator's disk");
}

}  // namespace
}  // namespace rekindle::cli
