// Tests how all interruption notices become one verdict, in virtual time.
#include "worker/agent/notices/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/agent/decisions/drain.h"

namespace rekindle::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr double kWall = 1'700'000'000, kSteady = 50;

TEST(Judge, EveryWarningBecomesADrainWithItsSeconds) {
  for (const double seconds : {120.0, 30.0, 15.0}) {
    Judge judge;
    judge.Hear("aws", {{.id = "a", .what = "spot interruption", .at = kWall + seconds}}, kWall, kSteady);
    const Verdict verdict = judge.Decide(kSteady);
    EXPECT_TRUE(verdict.leaves);
    EXPECT_EQ(verdict.leave_at, kSteady + seconds);
    EXPECT_EQ(verdict.reason, "a " + std::to_string(int(seconds)) + " s notice from aws: spot interruption");
    EXPECT_EQ(verdict.hint, "");
  }
}

TEST(Judge, AMachineWhoseTimeIsOverDrainsAsLongAsItLives) {
  Judge judge;
  judge.Hear("azure", {{.id = "a", .what = "Preempt", .at = kWall - 3}}, kWall, kSteady);
  EXPECT_EQ(judge.Decide(kSteady).leave_at, kSteady + kLeastSeconds);
  EXPECT_THAT(judge.Decide(kSteady).reason, HasSubstr("a 0 s notice"));
}

TEST(Judge, WithoutATimeThereIsNoLimit) {
  Judge judge;
  judge.Hear("kubernetes", {{.id = "t", .what = "taint x"}}, kWall, kSteady);
  EXPECT_TRUE(judge.Decide(kSteady).leaves);
  EXPECT_EQ(judge.Decide(kSteady).leave_at, HUGE_VAL);
  EXPECT_EQ(judge.Decide(kSteady).reason, "a notice from kubernetes: taint x");
}

TEST(Judge, WhatIsFarIsAHintUntilItIsNear) {
  Judge judge;
  const std::vector<Notice> far = {{.id = "m", .what = "system-reboot", .at = kWall + 10'000}};
  judge.Hear("aws", far, kWall, kSteady);
  EXPECT_FALSE(judge.Decide(kSteady).leaves);
  EXPECT_EQ(judge.Decide(kSteady).hint, "a notice from aws: system-reboot at 2023-11-15 01:00:00 UTC");
  // The wall clock is set forward meanwhile, but the notice keeps the time that it had when it was first heard.
  judge.Hear("aws", far, kWall + 500'000, kSteady + 9000);
  EXPECT_FALSE(judge.Decide(kSteady + 9000).leaves);
  EXPECT_TRUE(judge.Decide(kSteady + 9700).leaves);
  EXPECT_EQ(judge.Decide(kSteady + 9700).leave_at, kSteady + 10'000);
  EXPECT_EQ(judge.Decide(kSteady + 9700).hint, "");
}

TEST(Judge, WhatIsNewIsCountedOnceWhateverItSaysLater) {
  Judge judge;
  const Notice hint = {.id = "r", .what = "rebalance recommended", .leaves = false};
  Notice leaves = {.id = "a", .what = "spot interruption", .at = kWall + 120};
  EXPECT_EQ(judge.Hear("aws", {hint, leaves}, kWall, kSteady), (NoticeCounts{.leaves = 1, .hints = 1}));
  EXPECT_EQ(judge.Hear("aws", {hint, leaves}, kWall + 1, kSteady + 1), NoticeCounts());
  leaves.at = kWall + 90;
  EXPECT_EQ(judge.Hear("aws", {hint, leaves}, kWall + 2, kSteady + 2), NoticeCounts());
  Notice sure = hint;
  sure.leaves = true;
  EXPECT_EQ(judge.Hear("aws", {sure}, kWall + 3, kSteady + 3), (NoticeCounts{.leaves = 1, .withdrawn = 1}));
}

TEST(Judge, HintsMoveNothing) {
  Judge judge;
  judge.Hear("aws", {{.id = "r", .what = "rebalance recommended", .leaves = false}}, kWall, kSteady);
  EXPECT_FALSE(judge.Decide(kSteady).leaves);
  EXPECT_EQ(judge.Decide(kSteady).hint, "aws: rebalance recommended");
}

TEST(Judge, TheFirstToGoCountsAndAWithdrawalLeavesTheRest) {
  Judge judge;
  judge.Hear("kubernetes", {{.id = "t", .what = "taint"}}, kWall, kSteady);
  judge.Hear("aws", {{.id = "a", .what = "spot", .at = kWall + 100}}, kWall, kSteady);
  judge.Hear("file", {{.id = "f", .what = "file", .at = kWall + 20}}, kWall, kSteady);
  EXPECT_EQ(judge.Decide(kSteady).leave_at, kSteady + 20);
  judge.Hear("file", {}, kWall + 1, kSteady + 1);
  EXPECT_EQ(judge.Decide(kSteady + 1).leave_at, kSteady + 100);
  judge.Hear("aws", {}, kWall + 2, kSteady + 2);
  EXPECT_EQ(judge.Decide(kSteady + 2).leave_at, HUGE_VAL);
  judge.Hear("kubernetes", {}, kWall + 3, kSteady + 3);
  EXPECT_EQ(judge.Decide(kSteady + 3), Verdict());
}

TEST(Judge, AReasonDoesNotChangeWhileItsNoticeStands) {
  Judge judge;
  const std::vector<Notice> notices = {{.id = "a", .what = "spot", .at = kWall + 100}};
  judge.Hear("aws", notices, kWall, kSteady);
  const Verdict first = judge.Decide(kSteady);
  judge.Hear("aws", notices, kWall + 60, kSteady + 60);
  EXPECT_EQ(judge.Decide(kSteady + 60), first);
}

TEST(Judge, OnlyWhatIsDrainedForIsAcknowledged) {
  Judge judge;
  judge.Hear("azure",
             {{.id = "near", .what = "Preempt", .at = kWall + 30, .acknowledge = true},
              {.id = "far", .what = "Reboot", .at = kWall + 900, .acknowledge = true},
              {.id = "shared", .what = "Reboot", .at = kWall + 30}},
             kWall, kSteady);
  const auto due = judge.ToAcknowledge(kSteady);
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_EQ(due[0].first, "azure");
  EXPECT_EQ(due[0].second.id, "near");
}

TEST(DrainState, SignalsStayAndNoticesMayBeWithdrawn) {
  DrainState drain;
  EXPECT_FALSE(drain.draining());
  drain.Noticed({.leaves = true, .leave_at = 100, .reason = "a notice"});
  EXPECT_TRUE(drain.draining());
  EXPECT_FALSE(drain.signalled());
  EXPECT_EQ(drain.until(), 100);
  drain.Noticed({});
  EXPECT_FALSE(drain.draining());
  drain.Signalled(10, 30);
  EXPECT_EQ(drain.until(), 40);
  EXPECT_THAT(drain.reason(), HasSubstr("SIGTERM"));
  drain.Noticed({.leaves = true, .leave_at = 20, .reason = "a notice"});
  EXPECT_EQ(drain.until(), 20);
  EXPECT_EQ(drain.reason(), "a notice");
  drain.Noticed({});
  EXPECT_TRUE(drain.draining());
  // The first SIGTERM, at second 10, gave the drain 30 seconds. The second SIGTERM, at second 12, ends the drain at
  // once.
  drain.Signalled(12, 30);
  EXPECT_EQ(drain.until(), 12);
}

}  // namespace
}  // namespace rekindle::agent
