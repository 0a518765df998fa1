#include "worker/comm/watch/stall.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::comm {
namespace {

using Action = StallDetector::Action;

TEST(StallDetector, AsksFromHalfTheDeadlineAndJudgesAtItsEnd) {
  StallDetector detector;
  const double moved = 100;
  double now = moved;
  double first_ping = 0, judged = 0;
  while (judged == 0 && now < moved + 10) {
    switch (detector.Observe(now, true, moved, 2.0)) {
      case Action::kPing:
        if (first_ping == 0) first_ping = now;
        break;
      case Action::kJudge:
        judged = now;
        break;
      case Action::kNone:
        break;
    }
    now += detector.SecondsToNextLook(now, true, moved, 2.0) + 1e-6;
  }
  EXPECT_NEAR(first_ping, moved + 1.0, 0.01);
  EXPECT_NEAR(judged, moved + 2.0, 0.01);
}

TEST(StallDetector, NothingPendingNothingAsked) {
  StallDetector detector;
  for (double now = 0; now < 100; now += 0.2) EXPECT_EQ(detector.Observe(now, false, 0, 2.0), Action::kNone);
}

TEST(StallDetector, ProgressStartsAnew) {
  StallDetector detector;
  for (double now = 100; now < 130; now += 0.2) {
    EXPECT_NE(detector.Observe(now, true, now - 1.5, 2.0), Action::kJudge) << now;
  }
}

TEST(StallDetector, OneThatSleptItselfAsksBeforeItJudges) {
  StallDetector detector;
  EXPECT_EQ(detector.Observe(100, true, 100, 2.0), Action::kNone);
  EXPECT_EQ(detector.Observe(101.1, true, 100, 2.0), Action::kPing);
  // The rank pinged and was then stopped for a minute. It may not have read its peers' answers, so it pings again.
  EXPECT_EQ(detector.Observe(160, true, 100, 2.0), Action::kPing);
  EXPECT_EQ(detector.Observe(160.1, true, 100, 2.0), Action::kNone);
}

StallView View() {
  StallView view{.now = 50, .deadline = 2, .since = 48, .collective = 7, .waiting_for = 1 << 3};
  view.peers = {{}, {true, 49.9, 7}, {true, 49.9, 7}, {true, 49.9, 7}};
  return view;
}

std::vector<int> Ranks(const std::vector<Accusation>& accusations) {
  std::vector<int> ranks;
  for (const Accusation& a : accusations) ranks.push_back(a.rank);
  return ranks;
}

TEST(JudgeStall, TheSilentOneRatherThanTheOneWaitedFor) {
  StallView view = View();
  view.peers[2].last_answer = 40;
  EXPECT_THAT(Ranks(JudgeStall(view)), testing::ElementsAre(2));
}

TEST(JudgeStall, TheOneThatHasNotComeRatherThanTheOneWaitedFor) {
  StallView view = View();
  view.peers[1].come_to = 6;
  EXPECT_THAT(Ranks(JudgeStall(view)), testing::ElementsAre(1));
}

TEST(JudgeStall, TheOneWaitedForWhenAllAnswer) { EXPECT_THAT(Ranks(JudgeStall(View())), testing::ElementsAre(3)); }

TEST(JudgeStall, WhoHasLeftIsNotAccused) {
  StallView view = View();
  view.peers[2].last_answer = 40;
  view.peers[2].present = false;
  EXPECT_THAT(Ranks(JudgeStall(view)), testing::ElementsAre(3));
}

TEST(JudgeStall, WhoSaysThatItIsHeldUpIsExcusedAndSoIsWhoWaitsForIt) {
  StallView view = View();
  EXPECT_FALSE(IsExcused(view));
  view.peers[1].come_to = 6;
  view.peers[1].held_up_at = 49.9;
  EXPECT_THAT(Ranks(JudgeStall(view)), testing::IsEmpty());
  EXPECT_TRUE(IsExcused(view));
}

TEST(JudgeStall, AnExcuseLastsForOneDeadlineAfterItWasLastSaid) {
  StallView view = View();
  view.peers[1].come_to = 6;
  view.peers[1].held_up_at = view.now - view.deadline + 0.01;
  EXPECT_THAT(Ranks(JudgeStall(view)), testing::IsEmpty());
  view.peers[1].held_up_at = view.now - view.deadline;
  EXPECT_THAT(Ranks(JudgeStall(view)), testing::ElementsAre(1));
  EXPECT_FALSE(IsExcused(view));
}

TEST(JudgeStall, TheExcuseOfOneIsNoExcuseOfAnother) {
  StallView view = View();
  view.peers[1].come_to = 6;
  view.peers[1].held_up_at = 49.9;
  view.peers[2].come_to = 6;
  EXPECT_THAT(Ranks(JudgeStall(view)), testing::ElementsAre(2));
}

TEST(JudgeStall, NoExcuseForWhoDoesNotAnswerOrHasLeft) {
  StallView view = View();
  view.peers[1].last_answer = view.peers[1].held_up_at = 49.1;
  EXPECT_THAT(Ranks(JudgeStall(view)), testing::ElementsAre(1));
  view.peers[1].present = false;
  EXPECT_FALSE(IsExcused(view));
  EXPECT_THAT(Ranks(JudgeStall(view)), testing::ElementsAre(3));
}

TEST(StallDetector, PingsAfterAnExcuseAsOftenAsBefore) {
  StallDetector detector;
  int pings = 0;
  double now = 100;
  for (; now < 103; now += 0.001) pings += detector.PingsAfterExcuse(now, 2.0) ? 1 : 0;
  EXPECT_NEAR(pings, 3 / 0.25, 1);
}

}  // namespace
}  // namespace rekindle::comm
