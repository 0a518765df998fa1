#include "worker/train/save/checkpoint_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace rekindle::train {
namespace {

using testing::HasSubstr;
using Kind = CheckpointSpec::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Simulates a trainer in virtual time: it makes steps and saves, which take the times that the test sets.
struct Trainer {
  explicit Trainer(const CheckpointSpec& spec, const InterruptionRecord& record = {}) : schedule(spec) {
    schedule.Joined(now, record);
    schedule.Restarted(now, step);
  }
  void Step() {
    const bool saves = in_flight_until >= 0;
    const bool begin = schedule.Due(now, step + 1, step_seconds);
    const double seconds = step_seconds + (saves ? slowdown : 0);
    now += seconds;
    ++step;
    schedule.StepDone(seconds, true);
    if (saves && now >= in_flight_until) {
      in_flight_until = -1;
      if (store_works) {
        schedule.Durable(now, saved);
      } else {
        schedule.Failed(now);
      }
    }
    intervals.insert(schedule.interval_seconds());
    if (!begin) return;
    begun.push_back(now);
    saved = step;
    in_flight_until = now + write_seconds;
    schedule.Begun(now, step);
  }
  void RunUntil(double end) {
    while (now < end) Step();
  }

  double step_seconds = 1;
  // Each step that is made while a save is in flight takes `slowdown` seconds more.
  double slowdown = 0.05;
  double write_seconds = 3;
  bool store_works = true;

  double now = 1000;
  int64_t step = 0;
  int64_t saved = -1;
  double in_flight_until = -1;
  CheckpointSchedule schedule;
  std::vector<double> begun;
  std::set<double> intervals;
};

TEST(BestIntervalTest, IsYoungsForCheapSavesAndDalysForDearOnes) {
  EXPECT_NEAR(BestInterval(0.01, 36000), std::sqrt(2 * 0.01 * 36000), 0.02);
  EXPECT_EQ(BestInterval(1, kInfinity), kInfinity);
  // A save of 20 s costs more than twice the mean time of 5 s between interruptions. The computing time between two
  // saves is then that mean time.
  EXPECT_DOUBLE_EQ(BestInterval(20, 5), 25);
  // `waste` computes exactly what a checkpoint interval wastes. After Daly, the expected time for a second of work
  // under exponential interruptions is proportional to M (e^(t/M) - 1) / (t - C), where t is the interval and C the
  // cost of a save. It is least at the best interval, so no other interval nearby may be better.
  for (const double save : {0.1, 1.0, 10.0, 60.0}) {
    const double mean = 600;
    const auto waste = [&](double t) { return mean * (std::exp(t / mean) - 1) / (t - save); };
    const double best = BestInterval(save, mean);
    for (const double factor : {0.8, 0.9, 1.1, 1.2}) {
      EXPECT_LT(waste(best), waste(std::max(best * factor, save * 1.01))) << save << " x " << factor;
    }
  }
}

TEST(CheckpointScheduleTest, NeverMeansNever) {
  Trainer trainer({});
  trainer.RunUntil(1e5);
  EXPECT_TRUE(trainer.begun.empty());
}

TEST(CheckpointScheduleTest, EveryStepsCountsFromTheNewestDurable) {
  CheckpointSchedule schedule({.kind = Kind::kEverySteps, .every_steps = 10});
  schedule.Joined(0, {});
  schedule.Restarted(0, 0);
  EXPECT_FALSE(schedule.Due(5, 9, 1));
  EXPECT_TRUE(schedule.Due(5, 10, 1));
  schedule.Begun(6, 10);
  EXPECT_FALSE(schedule.Due(7, 19, 1));
  // A change of membership interrupts the save of step 10, so the next save is due at once.
  schedule.Joined(8, {});
  EXPECT_TRUE(schedule.Due(8, 12, 1));
  schedule.Begun(9, 12);
  schedule.Durable(11, 12);
  EXPECT_FALSE(schedule.Due(20, 21, 1));
  EXPECT_TRUE(schedule.Due(20, 22, 1));
  schedule.Restarted(21, 12);
  schedule.Joined(21, {});
  EXPECT_TRUE(schedule.Due(22, 22, 1));
  EXPECT_EQ(schedule.reason(), "");
}

TEST(CheckpointScheduleTest, EverySecondsKeepsToItsInterval) {
  Trainer trainer({.kind = Kind::kEverySeconds, .every_seconds = 30});
  trainer.step_seconds = 0.7;
  trainer.RunUntil(1000 + 310);
  ASSERT_EQ(trainer.begun.size(), 10);
  for (size_t i = 1; i < trainer.begun.size(); ++i) {
    // Saves begin at the step that is nearest to the end of the interval.
    EXPECT_NEAR(trainer.begun[i] - trainer.begun[i - 1], 30, 0.36);
  }
}

TEST(CheckpointScheduleTest, ASlowStoreIsNotAskedAgainBeforeItHasAnswered) {
  Trainer trainer({.kind = Kind::kEverySeconds, .every_seconds = 5});
  trainer.write_seconds = 20;
  trainer.RunUntil(2000);
  EXPECT_NEAR(static_cast<double>(trainer.begun.size()), 1000.0 / 21, 5);
  EXPECT_EQ(trainer.intervals.size(), 1);
}

TEST(CheckpointScheduleTest, AFailedSaveIsTriedAgainWithinAMinute) {
  Trainer trainer({.kind = Kind::kEverySeconds, .every_seconds = 600});
  trainer.store_works = false;
  trainer.RunUntil(1000 + 610);
  ASSERT_EQ(trainer.begun.size(), 1);
  trainer.RunUntil(1000 + 610 + 600);
  EXPECT_NEAR(static_cast<double>(trainer.begun.size()), 10, 1);
  trainer.store_works = true;
  trainer.RunUntil(trainer.now + 70);
  const size_t count = trainer.begun.size();
  trainer.RunUntil(trainer.now + 500);
  EXPECT_EQ(trainer.begun.size(), count);
}

TEST(CheckpointScheduleTest, ASaveThatIsNeverHeardOfAgainDoesNotEndCheckpoints) {
  CheckpointSchedule schedule({.kind = Kind::kEverySeconds, .every_seconds = 10});
  schedule.Joined(0, {});
  schedule.Begun(10, 10);
  EXPECT_FALSE(schedule.Due(300, 300, 1));
  EXPECT_TRUE(schedule.Due(311, 311, 1));
}

TEST(CheckpointScheduleTest, AutoMeasuresThenBalances) {
  // Each of 4 nodes is lost once in 10 hours, so there is one interruption in 9000 s. A save makes each of 3 steps 0.05
  // s longer, so it costs 0.15 s. The best interval is therefore sqrt(2 * 0.15 * 9000).
  Trainer trainer({.kind = Kind::kAuto, .interruptions_per_hour = 0.1}, {.nodes = 4});
  EXPECT_THAT(trainer.schedule.reason(), HasSubstr("the first checkpoint comes after 30 s"));
  trainer.RunUntil(1000 + 3600);
  EXPECT_NEAR(trainer.begun[0], 1030, 1);
  EXPECT_NEAR(trainer.schedule.interval_seconds(), std::sqrt(2 * 0.15 * 9000), 1);
  EXPECT_EQ(trainer.schedule.reason(),
            "a checkpoint every 52 s: one costs 0.15 s of training, an interruption is expected every 2.5 h (0.1 an "
            "hour and node, as the job states, on 4 nodes), for which 52 s lose least");
  EXPECT_EQ(trainer.intervals.size(), 2) << "it flaps";
  EXPECT_NEAR(static_cast<double>(trainer.begun.size()), 3600 / 52.0, 4);
}

TEST(CheckpointScheduleTest, AutoIsBounded) {
  Trainer slow({.kind = Kind::kAuto, .interruptions_per_hour = 60});
  slow.write_seconds = 80;
  slow.slowdown = 0;
  slow.RunUntil(3000);
  EXPECT_GE(slow.schedule.interval_seconds(), 100);
  EXPECT_LT(slow.schedule.interval_seconds(), 105);
  EXPECT_THAT(slow.schedule.reason(), HasSubstr("; but one takes 80 s to become durable"));

  Trainer often({.kind = Kind::kAuto, .interruptions_per_hour = 60});
  often.slowdown = 0;
  often.write_seconds = 1;
  often.RunUntil(3000);
  EXPECT_EQ(often.schedule.interval_seconds(), 5);
  EXPECT_THAT(often.schedule.reason(), HasSubstr("; but never more often than every 5 s"));

  Trainer rare({.kind = Kind::kAuto, .interruptions_per_hour = 0});
  rare.RunUntil(3000);
  EXPECT_EQ(rare.schedule.interval_seconds(), 3600);
  EXPECT_THAT(rare.schedule.reason(), HasSubstr("the job states no interruptions; but never rarer than every 60 min"));
}

TEST(CheckpointScheduleTest, AutoFollowsWhatItMeasures) {
  Trainer trainer({.kind = Kind::kAuto, .interruptions_per_hour = 0.1});
  trainer.RunUntil(5000);
  const double before = trainer.schedule.interval_seconds();
  // From now on each step beside a save takes more time than before, as if the store's network were busy.
  trainer.slowdown = 0.5;
  trainer.RunUntil(5000 + 20 * before);
  EXPECT_GT(trainer.schedule.interval_seconds(), before * 2);
  trainer.slowdown = 0.05;
  trainer.RunUntil(trainer.now + 100 * before);
  EXPECT_NEAR(trainer.schedule.interval_seconds(), before, before / 4);
  EXPECT_LE(trainer.intervals.size(), 6);
}

TEST(CheckpointScheduleTest, NoiseDoesNotMoveIt) {
  Trainer trainer({.kind = Kind::kAuto, .interruptions_per_hour = 0.1}, {.nodes = 4});
  unsigned random = 1;
  while (trainer.now < 1000 + 36000) {
    random = random * 1664525 + 1013904223;
    trainer.slowdown = 0.04 + 0.02 * (random >> 16) / 65536.0;
    trainer.Step();
  }
  EXPECT_LE(trainer.intervals.size(), 3);
}

TEST(CheckpointScheduleTest, TheRateOfInterruptionsIsLearned) {
  const CheckpointSpec spec{.kind = Kind::kAuto};
  Trainer quiet(spec, {.nodes = 2});
  quiet.RunUntil(1000 + 600);
  // Before any interruption is measured, one in 5 node hours is assumed. On 2 nodes that is one about every 2.5 h.
  EXPECT_THAT(quiet.schedule.reason(), HasSubstr("an interruption is expected every 2.5"));
  EXPECT_THAT(quiet.schedule.reason(),
              HasSubstr("0 interruptions in 0.018 node-hours of this job, beside the assumed 1 in 5; 2 nodes now"));
  const double assumed = quiet.schedule.interval_seconds();
  quiet.RunUntil(1000 + 100 * 3600);
  // One interruption in 205 node hours, instead of one in 5, makes the interval sqrt(41) = 6.4 times as long. The
  // schedule comes to this interval in several changes.
  EXPECT_GT(quiet.schedule.interval_seconds(), 4 * assumed);

  Trainer stormy(spec, {.nodes = 2, .interruptions = 19, .node_hours = 5});
  stormy.RunUntil(1000 + 600);
  EXPECT_LT(stormy.schedule.interval_seconds(), assumed / 2);
  EXPECT_THAT(stormy.schedule.reason(), HasSubstr("19 interruptions in 5 node-hours of this job"));
}

TEST(CheckpointScheduleTest, ANewGenerationIsReasonToThinkAgain) {
  Trainer trainer({.kind = Kind::kAuto, .interruptions_per_hour = 0.1}, {.nodes = 16});
  trainer.RunUntil(3000);
  const double before = trainer.schedule.interval_seconds();
  trainer.schedule.Joined(trainer.now, {.nodes = 1});
  EXPECT_NEAR(trainer.schedule.interval_seconds(), 4 * before, before / 10);
  EXPECT_THAT(trainer.schedule.reason(), HasSubstr("on 1 node)"));
}

TEST(CheckpointScheduleTest, WhatAChangeOfMembershipCutOffIsMadeUpFor) {
  CheckpointSchedule schedule({.kind = Kind::kEverySeconds, .every_seconds = 100});
  schedule.Joined(0, {});
  schedule.Begun(100, 100);
  schedule.Durable(103, 100);
  schedule.Begun(200, 200);
  EXPECT_FALSE(schedule.Due(201, 202, 1));
  schedule.Joined(202, {});
  EXPECT_TRUE(schedule.Due(203, 202, 1));
  // The change of membership seemed to interrupt the save, but its checkpoint became durable after all.
  schedule.Durable(204, 200);
  EXPECT_FALSE(schedule.Due(204, 203, 1));
  EXPECT_FALSE(schedule.Due(298, 290, 1));
  EXPECT_TRUE(schedule.Due(299, 290, 1));
}

TEST(CheckpointScheduleTest, AfterARestoreNothingIsAtRisk) {
  CheckpointSchedule schedule({.kind = Kind::kEverySeconds, .every_seconds = 100});
  schedule.Joined(0, {});
  schedule.Restarted(0, 0);
  schedule.Joined(5000, {});
  schedule.Restarted(5000, 40);
  EXPECT_FALSE(schedule.Due(5050, 60, 1));
  EXPECT_TRUE(schedule.Due(5099, 60, 1));
}

}  // namespace
}  // namespace rekindle::train
