#include "coordinator/core/testing/status_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::core::simulation {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class StatusCheckTest : public testing::Test {
 protected:
  StatusCheckTest() {
    record_.mutable_job()->set_name("job");
    status().set_step(5);
    status().set_checkpoint_step(4);
    record_.mutable_membership()->add_members()->set_trainer("n1/0/1");
    status().add_members()->set_trainer("n1/0/1");
    Say(v1::RUNNING, "started with 1 worker from initial state");
  }
  v1::JobStatus& status() { return *record_.mutable_job()->mutable_status(); }
  void Say(v1::JobState state, const std::string& reason) {
    status().set_state(state);
    status().set_reason(reason);
  }
  void Pause() {
    record_.set_want_paused(true);
    status().clear_members();
  }
  std::string Untruth() const { return FindUntruth(record_); }

  v1::JobRecord record_;
};

TEST_F(StatusCheckTest, WhatIsSoMayBeSaid) {
  EXPECT_THAT(Untruth(), IsEmpty());
  record_.set_want_paused(true);
  Say(v1::RUNNING, "pausing: at the next step boundary, as the user asked");
  EXPECT_THAT(Untruth(), IsEmpty());
  Pause();
  Say(v1::PAUSED, "paused by the user at step 5");
  EXPECT_THAT(Untruth(), IsEmpty());
}

TEST_F(StatusCheckTest, OneThatRunsDoesNotWait) {
  Say(v1::RUNNING, "kept 1: node n1 was given up: both lack nodes; waits for 1 node and n1/0 joins");
  EXPECT_THAT(Untruth(), HasSubstr("it runs, and waits"));
  Say(v1::RUNNING, "kept 1: preempted by job high of priority 10 (has 0)");
  EXPECT_THAT(Untruth(), HasSubstr("was preempted"));
}

TEST_F(StatusCheckTest, AStopUnderWayIsSaid) {
  record_.set_want_paused(true);
  EXPECT_THAT(Untruth(), HasSubstr("does not say that it pauses"));
  record_.set_want_paused(false);
  record_.set_halt("preempted by job high of priority 10 (has 0); waits for 1 node");
  EXPECT_THAT(Untruth(), HasSubstr("does not say that it is to stop"));
  Say(v1::RUNNING, "stops at the next step boundary: preempted by job high of priority 10 (has 0)");
  EXPECT_THAT(Untruth(), IsEmpty());
  record_.clear_halt();
  EXPECT_THAT(Untruth(), HasSubstr("it is not to stop"));
}

TEST_F(StatusCheckTest, OnePausedOrPendingOrOverHasNoMembers) {
  for (const v1::JobState state : {v1::PAUSED, v1::PENDING, v1::SUCCEEDED, v1::FAILED, v1::CANCELLED}) {
    Say(state, "some reason");
    EXPECT_THAT(Untruth(), HasSubstr("nobody computes")) << v1::JobState_Name(state);
  }
}

TEST_F(StatusCheckTest, MembersAreThoseOfTheMembership) {
  status().mutable_members(0)->set_trainer("n2/0/1");
  EXPECT_THAT(Untruth(), HasSubstr("n2/0/1 is no member"));
  status().clear_members();
  EXPECT_THAT(Untruth(), HasSubstr("left out"));
}

TEST_F(StatusCheckTest, WhoHasGoneKeepsNoFinalState) {
  record_.mutable_finishing();
  Say(v1::FINISHING, "the final checkpoint, of step 5, could not be saved");
  EXPECT_THAT(Untruth(), IsEmpty());
  record_.add_deaths()->set_trainer("n1/0/1");
  EXPECT_THAT(Untruth(), HasSubstr("keeps no state any more"));
}

TEST_F(StatusCheckTest, ACheckpointProvesItsStep) {
  status().set_checkpoint_step(6);
  EXPECT_THAT(Untruth(), HasSubstr("step 5 is shown, and checkpoint step 6"));
}

TEST_F(StatusCheckTest, ThePauseNamesItsStep) {
  Pause();
  Say(v1::PAUSED, "paused by the user at step 4");
  EXPECT_THAT(Untruth(), HasSubstr("at which step"));
  record_.set_want_paused(false);
  EXPECT_THAT(Untruth(), HasSubstr("nobody wants it paused"));
}

TEST_F(StatusCheckTest, ASumIsThatOfNow) {
  Pause();
  record_.set_budget_stop("stopped");
  status().mutable_cost()->set_currency("USD");
  status().mutable_cost()->set_spent(29.98);
  status().mutable_cost()->set_budget(60);
  Say(v1::PAUSED, "the budget must not be crossed: 29.98 USD of 60.00 USD are spent; raise it");
  EXPECT_THAT(Untruth(), IsEmpty());
  status().mutable_cost()->set_budget(70);
  EXPECT_THAT(Untruth(), HasSubstr("now it is 29.98 USD of 70.00 USD"));
}

TEST_F(StatusCheckTest, OneThatWaitsIsStoppedByNobodyUnlessItSaysSo) {
  status().clear_members();
  Say(v1::PENDING, "preempted by job high of priority 10 (has 0); waits for 1 node");
  EXPECT_THAT(Untruth(), HasSubstr("nothing stops it"));
  record_.set_halt(status().reason());
  EXPECT_THAT(Untruth(), IsEmpty());
  Say(v1::PENDING, "waits for 1 more worker (has 0, needs 1)");
  EXPECT_THAT(Untruth(), HasSubstr("why it stopped"));
}

TEST_F(StatusCheckTest, OneThatIsOverDoesNothingMore) {
  status().clear_members();
  Say(v1::CANCELLED, "waits for 1 more worker (has 0, needs 1)");
  EXPECT_THAT(Untruth(), HasSubstr("it is over"));
}

}  // namespace
}  // namespace rekindle::core::simulation
