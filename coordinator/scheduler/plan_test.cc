#include "coordinator/scheduler/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include "coordinator/scheduler/level.h"
#include "coordinator/scheduler/offers.h"

namespace rekindle::scheduler {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The fixture has a job of 10 h on one node, with capacity in two zones and on demand.
class PlanTest : public testing::Test {
 protected:
  PlanTest() {
    job_.total_hours = job_.hours_left = 10;
    job_.deadline = 14;
    job_.units.resize(1);
    job_.recovery = Recovery(0.25);
    job_.recovery.Started(0.25);
    pools_ = {{.name = "a", .price = 1, .available = 1},
              {.name = "b", .price = 1, .available = 1},
              {.name = "od", .capacity = Capacity::kOnDemand, .price = 3, .available = 100}};
  }

  std::vector<Action> At(double now) {
    job_.history.Observe(SpotSlots(pools_, 1), 1, now);
    return planner_.Plan(job_, pools_, policy_, now);
  }
  void Take(int pool) { job_.units[0] = {.pool = pool}; }
  void NoSpot() { pools_[0].available = pools_[1].available = 0; }

  JobView job_;
  std::vector<PoolView> pools_;
  Policy policy_{.period = 0.1};
  Planner planner_;
};

TEST_F(PlanTest, SpotIsTakenWhereThereIsSome) {
  const auto actions = At(0);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].pool, 0);
  EXPECT_EQ(actions[0].reason, "a has spot capacity");
}

TEST_F(PlanTest, AZoneThatJustFailedIsAvoided) {
  At(0);
  pools_[0].available = 0;
  At(0.1);
  pools_[0].available = 1;
  const auto actions = At(0.2);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].pool, 1);
}

TEST_F(PlanTest, MoreRoomThanTheJobHasUnitsMakesNoDifference) {
  for (PoolView& pool : pools_) pool.available = 1000;
  job_.units.resize(3);
  for (int round = 0; round < 5; ++round) {
    job_.history.Observe(SpotSlots(pools_, 1), 3, round * 0.1);
    for (const Action& action : planner_.Plan(job_, pools_, policy_, round * 0.1)) {
      job_.units[static_cast<size_t>(action.unit)] = {.pool = action.pool};
    }
    for (const UnitView& unit : job_.units) EXPECT_EQ(unit.pool, 0) << round;
  }
}

TEST_F(PlanTest, AFleetWithoutSpotCapacityIsNoReasonToWait) {
  pools_.erase(pools_.begin(), pools_.begin() + 2);
  auto actions = At(0);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].reason, "the fleet has no spot capacity");
  Take(0);
  EXPECT_THAT(At(0.5), IsEmpty());
}

TEST_F(PlanTest, OnDemandNoLaterThanTheLastSafeMoment) {
  NoSpot();
  EXPECT_THAT(At(0), IsEmpty());
  // The last safe moment is at 3.45 h. That is 14 h less 10 h of work, 0.25 h for a start, a margin of 0.2 h and one
  // period.
  const auto actions = At(3.5);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].pool, 2);
  EXPECT_THAT(actions[0].reason, HasSubstr("last safe moment"));
}

TEST_F(PlanTest, SpotIsLeftBeforeAnInterruptionCouldNotBeMadeUp) {
  Take(0);
  EXPECT_THAT(At(0), IsEmpty());
  job_.hours_left = 8;
  const auto actions = At(5.7);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].pool, 2);
  EXPECT_THAT(actions[0].reason, HasSubstr("an interruption now could not be made up"));
}

TEST_F(PlanTest, LongerStartsThanStatedMoveTheLastSafeMoment) {
  NoSpot();
  At(0);
  job_.recovery.Started(1);
  EXPECT_EQ(At(2.8).size(), 1u);
}

TEST_F(PlanTest, AMoveMustPayForItsStart) {
  Take(0);
  pools_[1].price = 0.95;
  EXPECT_THAT(At(0), IsEmpty());
  pools_[1].price = 0.4;
  const auto actions = At(0.1);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].pool, 1);
  EXPECT_THAT(actions[0].reason, HasSubstr("worth the start"));
}

TEST_F(PlanTest, TheBudgetStopsTheJob) {
  Take(0);
  job_.budget_left = 0.05;
  const auto actions = At(0);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].pool, kNone);
  EXPECT_THAT(actions[0].reason, HasSubstr("the budget does not cover another planning period"));
  // So little of the job is left now that the budget covers it.
  job_.hours_left = 0.04;
  EXPECT_THAT(At(0.1), IsEmpty());
}

TEST_F(PlanTest, WithoutADeadlineNothingRunsOnDemand) {
  job_.deadline = kNever;
  NoSpot();
  EXPECT_THAT(At(0), IsEmpty());
  EXPECT_THAT(At(1000), IsEmpty());
}

TEST_F(PlanTest, OnDemandCapacityIsLeftForCheaperSpotCapacityOnly) {
  pools_ = {{.name = "full", .price = 1, .available = 0},
            {.name = "other", .price = 4, .available = 1},
            {.name = "od", .capacity = Capacity::kOnDemand, .price = 3, .available = 1}};
  Take(2);
  // The unit runs on demand. It may wait for room in the cheaper pool "full", but must not move to the dearer pool
  // "other".
  for (const Action& action : At(0)) EXPECT_NE(action.pool, 1) << action.reason;
  job_.deadline = kNever;
  EXPECT_THAT(At(0.1), IsEmpty());
  pools_[1].available = 0;
  EXPECT_THAT(At(0.2), IsEmpty());
  pools_[1] = {.name = "other", .price = 2, .available = 1};
  EXPECT_THAT(At(0.3), SizeIs(1));
  // With 1 h of work left, the move to "other" saves exactly twice the price of a start, which is not enough.
  job_.hours_left = 1;
  EXPECT_THAT(At(0.4), IsEmpty());
}

TEST_F(PlanTest, CapacityIsWhatTheJobAllows) {
  policy_.capacity = Allowed::kOnDemand;
  EXPECT_EQ(At(0)[0].pool, 2);
  policy_.capacity = Allowed::kSpot;
  NoSpot();
  EXPECT_THAT(At(13), IsEmpty());
}

TEST_F(PlanTest, WhatAnHoursWorkCostsDecides) {
  pools_[1] = {.name = "b", .price = 2, .speed = 3, .available = 1};
  auto actions = At(0);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].pool, 1);
  Take(0);
  actions = At(0.1);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].reason,
            "b costs 2.000 an hour, a costs 1.000 and does 0.33 times as much: worth the start of 0.2 h");
}

TEST_F(PlanTest, TheBudgetIsOfRealHours) {
  NoSpot();
  pools_[2].speed = 2;
  policy_.capacity = Allowed::kOnDemand;
  job_.budget_left = 0.4;
  EXPECT_THAT(At(0), SizeIs(1));
  // Running on demand for a planning period of 0.1 h costs 0.3, which is more than the budget that is left.
  job_.budget_left = 0.2;
  EXPECT_THAT(At(0), IsEmpty());
}

TEST_F(PlanTest, SlowOnDemandCapacityIsTakenEarlier) {
  Take(0);
  pools_[1].available = 0;
  job_.deadline = 24;
  EXPECT_THAT(At(0), IsEmpty());
  // At a speed of 0.45 the 10 h of work take 22 h on demand, so the job must change to on-demand capacity early.
  pools_[2].speed = 0.45;
  const auto actions = At(1.5);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].pool, 2);
}

TEST(Level, HoursAndPricesAreOfTheSameWork) {
  JobView job;
  job.units.resize(1);
  job.total_hours = 12;
  job.hours_left = 6;
  std::vector<PoolView> pools = {
      {.name = "a", .price = 1, .available = 1},
      {.name = "none", .capacity = Capacity::kOnDemand, .price = 1, .speed = 2, .available = 0},
      {.name = "od", .capacity = Capacity::kOnDemand, .price = 6, .speed = 3, .available = 1, .grams = 30}};
  EXPECT_FALSE(AreLevel(pools));
  EXPECT_EQ(Yardstick(job, pools, Allowed::kMixed, 0), 3);
  EXPECT_EQ(Yardstick(job, pools, Allowed::kSpot, 0), 1);
  pools.push_back({.name = "slow", .capacity = Capacity::kOnDemand, .price = 0.1, .speed = 0.5, .available = 1});
  EXPECT_EQ(Yardstick(job, pools, Allowed::kMixed, 0), 0.5);
  // In the slow pool the work would take 12 h, which is longer than the new deadline allows.
  job.deadline = 10;
  EXPECT_EQ(Yardstick(job, pools, Allowed::kMixed, 0), 3);
  // With two units, only one finds room in the fast pool, and the other has to run in the pool that is too slow.
  job.units.resize(2);
  EXPECT_EQ(Yardstick(job, pools, Allowed::kMixed, 0), 1.75);
  job.units.resize(1);
  pools.pop_back();
  Level(3, &job, &pools);
  EXPECT_EQ(job.hours_left, 2);
  EXPECT_DOUBLE_EQ(pools[0].price, 3);
  EXPECT_EQ(pools[2].price, 6);
  EXPECT_EQ(pools[2].grams, 30);
}

TEST(Recovery, PlansWithTheUpperQuantile) {
  Recovery recovery(0.5);
  // Nothing has been measured, so a start is planned with twice the stated time.
  EXPECT_EQ(recovery.Start(), 1);
  for (int i = 1; i <= 20; ++i) recovery.Started(i);
  EXPECT_EQ(recovery.Start(), 19);
  EXPECT_EQ(recovery.Expected(5), 19);
  EXPECT_EQ(recovery.Expected(30), 60);
}

// After a pause, or on another kind of device, a job may have more units than at first.
TEST(SpotHistory, TakesMoreUnitsThanAtFirst) {
  SpotHistory history;
  history.Observe({1}, 1, 0);
  history.Observe({64}, 64, 1);
  EXPECT_EQ(history.Hours(0, 63), 0);
  history.Observe({64}, 2, 2);
  EXPECT_EQ(history.Hours(0, 1), 1);
}

TEST(SpotHistory, LearnsByAge) {
  SpotHistory history;
  const auto look = [&](int up, double now) { history.Observe({up, -1}, 1, now); };
  look(1, 0);
  const Hazards before = history.Learned(0);
  EXPECT_GT(before.lost[kYoung], before.lost[kOld]);
  // With a single spot pool, no other pool can have room when its capacity is lost.
  EXPECT_EQ(before.elsewhere, 0);
  for (int i = 1; i <= 50; ++i) look(1, i);
  EXPECT_LT(history.Learned(0).lost[kOld], before.lost[kOld] / 5);
  EXPECT_EQ(history.Learned(0).lost[kYoung], before.lost[kYoung]);
  look(0, 51);
  EXPECT_EQ(history.AnyAge(0), kYoung);
  look(0, 52);
  EXPECT_EQ(history.AnyAge(0), kOld);
}

// Where an Outlook answers from prices alone, without its table, the table must give the same answer.
TEST(Outlook, AnswersAsItsTable) {
  const char* given = std::getenv("REKINDLE_SEED");
  const uint64_t seed = given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
  SCOPED_TRACE("REKINDLE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto upto = [&](double most) { return std::uniform_real_distribution<double>(0, most)(random); };
  // The values of a table are floats, and their rounding errors add up over its cells.
  constexpr double kRounding = 1e-3;
  for (int round = 0; round < 300; ++round) {
    OutlookQuestion question{.work = upto(200), .slack = upto(100), .start = upto(2), .spot_price = 1};
    question.on_demand_price = 0.9 + upto(round % 2 == 0 ? 0.2 : 3);
    question.overlap = round % 3 == 0;
    for (double& hazard : question.hazards.lost) hazard = upto(2);
    for (double& hazard : question.hazards.back) hazard = upto(2);
    question.hazards.elsewhere = upto(1);
    const OutlookTable table(question);
    Outlook outlook(question);
    for (int i = 0; i < 50; ++i) {
      const double work = question.work * (i == 0 ? 1 : upto(1)), slack = upto(question.slack);
      const Age age = i % 2 == 0 ? kYoung : kOld;
      const bool running = i % 3 > 0;
      const double saved = work * (question.on_demand_price - 1) - question.start;
      if (std::abs(saved) < kRounding * work) continue;
      ASSERT_EQ(outlook.SpotBeatsOnDemand(work, slack, age), table.SpotBeatsOnDemand(work, slack, age)) << round;
      ASSERT_EQ(outlook.OnDemandBeatsWaiting(work, slack, age, running),
                table.OnDemandBeatsWaiting(work, slack, age, running))
          << round;
    }
  }
}

TEST(Outlook, WaitsWhileThereIsSlackAndCapacityComesBack) {
  OutlookQuestion question{.work = 48, .slack = 20, .start = 0.1, .spot_price = 1, .on_demand_price = 3};
  question.hazards = {.lost = {0.2, 0.1}, .back = {1, 0.5}, .elsewhere = 0.5};
  Outlook outlook(question);
  EXPECT_FALSE(outlook.OnDemandBeatsWaiting(48, 20, kYoung, false));
  EXPECT_TRUE(outlook.OnDemandBeatsWaiting(48, 0.1, kYoung, true));
  EXPECT_TRUE(outlook.SpotBeatsOnDemand(48, 10, kOld));
  // For the last 0.02 h of work, a start on spot capacity costs more than staying on demand.
  EXPECT_FALSE(outlook.SpotBeatsOnDemand(0.02, 10, kOld));
}

}  // namespace
}  // namespace rekindle::scheduler
