// Tests that a refused call leaves no trace. The state's records, events and views are those without the call, at once
// and as time passes.
#include "coordinator/core/state/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "common/agreed/version.h"
#include "coordinator/core/cluster.h"

namespace rekindle::core {
namespace {

using testing::IsEmpty;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHourlyPrice = 3600;

v1::JobRecord JobNamed(const std::string& name) {
  v1::JobRecord record;
  record.mutable_job()->set_name(name);
  record.mutable_job()->set_uid(name + "-uid");
  record.set_secret("secret");
  v1::JobSpec* spec = record.mutable_job()->mutable_status()->mutable_resolved_spec();
  spec->mutable_training()->set_global_batch(6);
  spec->mutable_training()->set_micro_batch(1);
  spec->mutable_training()->set_steps(100);
  spec->mutable_training()->set_precision("fp32");
  spec->mutable_workers()->set_min(1);
  return record;
}

// Returns a job that its budget has paused. Little of the budget is left.
v1::JobRecord PausedByItsBudget() {
  v1::JobRecord record = JobNamed("budgeted");
  record.set_want_paused(true);
  record.set_released(true);
  record.set_budget_stop("the budget must not be crossed");
  v1::JobStatus* status = record.mutable_job()->mutable_status();
  status->set_state(v1::PAUSED);
  status->mutable_resolved_spec()->mutable_goals()->set_budget(60);
  status->mutable_cost()->set_currency("USD");
  status->mutable_cost()->set_budget(60);
  status->mutable_cost()->set_spent(30);
  status->mutable_cost()->set_usual_rate(kHourlyPrice);
  return record;
}

v1::JobRecord Ended() {
  v1::JobRecord record = JobNamed("ended");
  record.mutable_job()->mutable_status()->set_state(v1::SUCCEEDED);
  return record;
}

v1::NodeReport Report(const std::string& node) {
  v1::NodeReport report;
  report.set_node(node);
  report.set_incarnation("i1");
  report.set_agent_incarnation("a1");
  report.set_protocol_version(common::kProtocolVersion);
  report.set_slots(1);
  report.set_wait_ms(1000);
  report.set_pool("spot");
  return report;
}

std::string Records(const Effects& effects) {
  std::string all;
  for (const auto& job : effects.save_jobs) absl::StrAppend(&all, "job ", job.SerializeAsString(), "\n");
  for (const auto& node : effects.save_nodes) absl::StrAppend(&all, "node ", node.SerializeAsString(), "\n");
  for (const auto& event : effects.events) absl::StrAppend(&all, "event ", event.SerializeAsString(), "\n");
  for (const auto& uid : effects.changed_jobs) absl::StrAppend(&all, "changed ", uid, "\n");
  for (const auto& order : effects.orders) absl::StrAppend(&all, "order ", order.pool, " ", order.nodes, "\n");
  return absl::StrCat(all, "wake ", effects.wake_at);
}

std::string Views(const Cluster& cluster, double now) {
  std::string all;
  for (const v1::JobRecord* job : cluster.Jobs()) absl::StrAppend(&all, "job ", job->SerializeAsString(), "\n");
  for (const v1::Node& node : cluster.Nodes(now)) {
    absl::StrAppend(&all, "node ", node.SerializeAsString(), "\n", "told ",
                    cluster.DirectiveForNode(node.name()).SerializeAsString(), "\n");
  }
  return all;
}

class RefusalTest : public testing::Test {
 protected:
  RefusalTest() : cluster_(Strict()) {
    PoolPrices spot;
    spot.capacity = "spot";
    spot.price = {{0, kHourlyPrice}};
    Restored restored{
        .jobs = {PausedByItsBudget(), Ended()}, .nodes = {}, .wall_offset = 1000, .prices = {}, .carbon = {}};
    restored.prices.currency = "USD";
    restored.prices.pools["spot"] = spot;
    cluster_.Step(restored, now_);
    cluster_.Step(NodeReported{Report("n1")}, now_);
    cluster_.Step(NodeReported{Report("n2")}, now_);
    EXPECT_TRUE(cluster_.Step(SubmitJob{JobNamed("running")}, now_).status.ok());
    // A second passes after the job "running" was submitted, so that a refused call could wrongly count its costs.
    now_ += 1;
  }

  static Tunables Strict() {
    Tunables tunables;
    tunables.refuse_unfit_precision = true;
    return tunables;
  }

  void ExpectNothingChanged(const std::string& what, const Event& call, absl::StatusCode code) {
    SCOPED_TRACE(what);
    Cluster without = cluster_, with = cluster_;
    Effects told;
    with.TakeEvent(call, now_, &told);
    EXPECT_EQ(told.status.code(), code) << told.status;
    EXPECT_THAT(told.events, IsEmpty()) << told.events[0].ShortDebugString();
    EXPECT_EQ(Views(with, now_), Views(without, now_));
    Effects settled_with, settled_without;
    with.Settle(now_, &settled_with);
    without.Settle(now_, &settled_without);
    EXPECT_EQ(Records(settled_with), Records(settled_without));
    for (const double later : {0.5, 5.0, 60.0, 600.0}) {
      EXPECT_EQ(Records(with.Step(Tick{}, now_ + later)), Records(without.Step(Tick{}, now_ + later))) << later;
      EXPECT_EQ(Views(with, now_ + later), Views(without, now_ + later)) << later;
    }
  }

  double now_ = 100;
  Cluster cluster_;
};

TEST_F(RefusalTest, AResumeWithABudgetThatIsNoUse) {
  // A node costs 1 a second, and the job has spent 30. The budgets of 61, 90 and 119, and the old budget of 60 that 0
  // keeps, are at least the price of a minute, as a budget must be. But what is left of them is too little for the job
  // to go on and pause in time.
  for (const double budget : {0.0, 61.0, 90.0, 119.0}) {
    ExpectNothingChanged(absl::StrCat("budget ", budget), ResumeJob{"budgeted-uid", budget},
                         absl::StatusCode::kFailedPrecondition);
  }
  for (const double budget : {59.0, 30.0, 1e-9, -1.0, kNaN, kInfinity, -kInfinity}) {
    ExpectNothingChanged(absl::StrCat("budget ", budget), ResumeJob{"budgeted-uid", budget},
                         absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(RefusalTest, VerbsOfJobsThatAreOverOrUnknown) {
  for (const std::string uid : {"ended-uid", "nobody", ""}) {
    const auto code = uid == "ended-uid" ? absl::StatusCode::kFailedPrecondition : absl::StatusCode::kNotFound;
    ExpectNothingChanged("cancel " + uid, CancelJob{uid}, code);
    ExpectNothingChanged("pause " + uid, PauseJob{uid}, code);
    ExpectNothingChanged("resume " + uid, ResumeJob{uid, 0}, code);
    ExpectNothingChanged("resume with a budget " + uid, ResumeJob{uid, 1e6}, code);
  }
}

TEST_F(RefusalTest, OnlyAJobThatIsOverIsForgotten) {
  ExpectNothingChanged("not over", ForgetJob{"running-uid"}, absl::StatusCode::kFailedPrecondition);
  ExpectNothingChanged("unknown", ForgetJob{"nobody"}, absl::StatusCode::kNotFound);
  const Effects effects = cluster_.Step(ForgetJob{"ended-uid"}, now_);
  EXPECT_TRUE(effects.status.ok()) << effects.status;
  EXPECT_EQ(effects.forget_jobs, std::vector<std::string>{"ended-uid"});
  EXPECT_EQ(cluster_.FindJob("ended-uid"), nullptr);
}

TEST_F(RefusalTest, ADrainOfNobodyOrOfNoTime) {
  ExpectNothingChanged("unknown", DrainNode{"nobody", 0, ""}, absl::StatusCode::kNotFound);
  for (const double within : {-1.0, kNaN, kInfinity, -kInfinity}) {
    ExpectNothingChanged(absl::StrCat("within ", within), DrainNode{"n1", within, ""},
                         absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(RefusalTest, AnUndrainOfWhatDoesNotDrainOrLeavesByItself) {
  ExpectNothingChanged("unknown", UndrainNode{"nobody"}, absl::StatusCode::kNotFound);
  ExpectNothingChanged("works", UndrainNode{"n1"}, absl::StatusCode::kFailedPrecondition);
}

TEST_F(RefusalTest, ASubmit) {
  ExpectNothingChanged("same name", SubmitJob{JobNamed("running")}, absl::StatusCode::kAlreadyExists);
  v1::JobRecord same_uid = JobNamed("other");
  same_uid.mutable_job()->set_uid("running-uid");
  ExpectNothingChanged("same uid", SubmitJob{same_uid}, absl::StatusCode::kAlreadyExists);
  v1::JobRecord poor = JobNamed("poor");
  poor.mutable_job()->mutable_status()->mutable_resolved_spec()->mutable_goals()->set_budget(1);
  ExpectNothingChanged("poor", SubmitJob{poor}, absl::StatusCode::kInvalidArgument);
  v1::JobRecord late = JobNamed("late");
  late.mutable_job()->mutable_status()->mutable_resolved_spec()->mutable_goals()->set_deadline_hours(-1);
  ExpectNothingChanged("late", SubmitJob{late}, absl::StatusCode::kInvalidArgument);
  v1::JobRecord unfit = JobNamed("unfit");
  unfit.mutable_job()->mutable_status()->mutable_resolved_spec()->mutable_training()->set_precision("fp16");
  ExpectNothingChanged("unfit", SubmitJob{unfit}, absl::StatusCode::kInvalidArgument);
}

TEST_F(RefusalTest, WhatIsNotRefusedDoesChange) {
  EXPECT_TRUE(cluster_.Step(ResumeJob{"budgeted-uid", 1000}, now_).status.ok());
  const v1::JobRecord* job = cluster_.FindJob("budgeted");
  EXPECT_EQ(job->job().status().cost().budget(), 1000);
  EXPECT_FALSE(job->want_paused());
  const Effects drained = cluster_.Step(DrainNode{"n1", 5, "asked"}, now_);
  EXPECT_TRUE(drained.status.ok());
  EXPECT_FALSE(drained.events.empty());
}

}  // namespace
}  // namespace rekindle::core
