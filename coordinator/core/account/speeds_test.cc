#include "coordinator/core/account/speeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::core {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pointwise;

// The fixture has one node in each of two pools. The job's one worker is on one of them.
class SpeedsTest : public testing::Test {
 protected:
  SpeedsTest() {
    for (const char* pool : {"a", "d"}) {
      state_.prices.pools[pool] = {};
      state_.nodes[std::string(pool) + "1"].record.set_pool(pool);
    }
    v1::JobSpec* spec = MutableSpec(job_);
    spec->mutable_training()->set_micro_batch(4);
    spec->mutable_training()->set_global_batch(16);
    spec->mutable_workers()->set_min(1);
    spec->mutable_workers()->set_max(1);
    spec->mutable_estimate()->set_step_seconds(7);
    job_.active = true;
  }

  void On(const std::string& node) {
    node_ = node;
    job_.record.mutable_membership()->clear_members();
    v1::Member* member = job_.record.mutable_membership()->add_members();
    member->set_node(node);
    member->set_trainer(node + "/0/1");
    job_.formed_step = status().step();
  }
  v1::JobStatus& status() { return *job_.record.mutable_job()->mutable_status(); }
  // Makes `count` steps of `step_seconds` each, in micro-batches of `seconds`.
  void Steps(int count, double step_seconds, double seconds) {
    for (int i = 0; i < count; ++i) {
      now_ += step_seconds;
      status().set_step(status().step() + 1);
      status().set_step_seconds(step_seconds);
      v1::TrainerReport report;
      report.set_node(node_);
      report.set_trainer(node_ + "/0/1");
      report.set_completed_step(status().step());
      report.set_micro_batch_seconds(seconds);
      Turn turn{state_, effects_, now_};
      TakeSpeed(turn, job_, report);
      TakeStepWork(state_, job_);
    }
  }
  std::vector<double> Speeds() { return SpeedsOf(state_, job_, {{"a", ""}, {"d", ""}, {"", "cpu"}}); }

  State state_;
  Effects effects_;
  Job job_;
  double now_ = 1000;
  std::string node_;
};

TEST_F(SpeedsTest, AStepIsTheSameWorkWhoeverDoesIt) {
  state_.prices.pools["d"].speed = 0.25;
  state_.prices.speeds_stated = true;
  // Before the first step, the time of a step is what the spec estimates.
  EXPECT_DOUBLE_EQ(StepHours(state_, job_), 7 / kHour);
  On("d1");
  Steps(20, 2, 0.4);
  EXPECT_NEAR(StepHours(state_, job_), 0.5 / kHour, 1e-9);
  // The job has got other members. The first times that they report may still be those of the members before them, so
  // these times do not count at once.
  On("a1");
  Steps(1, 2, 0.4);
  EXPECT_NEAR(StepHours(state_, job_), 0.5 / kHour, 1e-9);
  Steps(20, 0.5, 0.1);
  EXPECT_NEAR(StepHours(state_, job_), 0.5 / kHour, 1e-9);
  EXPECT_THAT(Speeds(), ElementsAre(1, 0.25, 1));
  job_.active = false;
  EXPECT_NEAR(StepHours(state_, job_), 0.5 / kHour, 1e-9);
}

TEST_F(SpeedsTest, WhatIsMeasuredStandsInsteadOfWhatIsStated) {
  On("a1");
  Steps(8, 1, 0.1);
  // Eight steps give too few reports for a speed.
  EXPECT_THAT(job_.record.speeds(), IsEmpty());
  Steps(20, 1, 0.1);
  // A single kind of machine always has speed 1.
  EXPECT_THAT(Speeds(), IsEmpty());
  On("d1");
  Steps(30, 4, 0.4);
  EXPECT_THAT(Speeds(), Pointwise(DoubleNear(1e-6), {2.0, 0.5, 1.0}));
  // `StepHours` is the time of a step at speed 1.
  EXPECT_NEAR(StepHours(state_, job_), 2 / kHour, 1e-6);
  // A kind of machine that the fleet no longer has says nothing about the speeds of others.
  state_.prices.pools.erase("a");
  EXPECT_THAT(Speeds(), Pointwise(DoubleNear(1e-6), {1.0, 1.0, 1.0}));
}

TEST_F(SpeedsTest, OneAbsurdReportMovesNothing) {
  On("a1");
  Steps(20, 1, 0.1);
  On("d1");
  Steps(20, 1, 0.1);
  effects_ = {};
  Steps(1, 1, 1e-7);
  EXPECT_THAT(Speeds(), ElementsAre(1, 1, 1));
  EXPECT_THAT(effects_.events, IsEmpty());
  // The core forgets the reports of speeds, as after a restart of the coordinator. Only the record still has the
  // speeds.
  job_.speeds.clear();
  Steps(1, 1, 0.05);
  EXPECT_THAT(Speeds(), ElementsAre(1, 1, 1));
}

}  // namespace
}  // namespace rekindle::core
