#include "coordinator/core/stopping/reopening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coordinator/core/scenario/scenario.h"

namespace rekindle::core {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class ReopeningTest : public testing::Test {
 protected:
  ReopeningTest() {
    for (const char* line :
         {"submit job max=2 micro_batches=4 store=file:///store", "node n1 up", "node n2 up", "trainer n1/0,n2/0",
          "follow all", "steps all 23", "report n1/0 committed=1-20-n1", "node n1 up", "node n2 up"}) {
      Run(line);
    }
  }
  std::vector<std::string> Run(const std::string& line) { return scenario_.Run(line); }
  std::string Status() { return Run("status").front(); }
  // Fails the job by an error of one trainer that is the job's fault.
  void Fail(const std::string& trainer = "n2/0") {
    Run("report " + trainer + " phase=FAILED error=odd jobs_fault=1");
    ASSERT_THAT(Status(), HasSubstr("FAILED"));
  }
  void EndTrainers() {
    Run("node n1 exit n1/0 0");
    Run("node n2 exit n2/0 0");
  }

  Scenario scenario_;
};

TEST_F(ReopeningTest, AFailedJobGoesOnFromItsNewestCheckpoint) {
  Fail();
  EndTrainers();
  const auto said = Run("resume");
  EXPECT_THAT(said, Contains(HasSubstr("resumed: resumed by the user")));
  EXPECT_THAT(said, Contains("n1 <- run job on slot 0"));
  EXPECT_THAT(Status(), HasSubstr("PENDING"));
  EXPECT_THAT(Run("trainer n1/0,n2/0 incarnation=2 restorable=1-20-n1"),
              Contains(HasSubstr("generation 2 at step 20, state from checkpoint 1-20-n1")));
  EXPECT_THAT(Status(), HasSubstr("RUNNING, generation 2"));
}

TEST_F(ReopeningTest, AfterARestartToo) {
  Fail();
  EndTrainers();
  Run("restart");
  Run("node n1 up");
  Run("node n2 up");
  EXPECT_THAT(Run("resume"), Contains("n1 <- run job on slot 0"));
  EXPECT_THAT(Run("trainer n1/0,n2/0 incarnation=2 restorable=1-20-n1"),
              Contains(HasSubstr("generation 2 at step 20, state from checkpoint 1-20-n1")));
}

TEST_F(ReopeningTest, TrainersThatStillRunAreWaitedForAndNothingChanges) {
  Fail();
  EXPECT_THAT(Run("resume"), Contains(HasSubstr("refused: job job has failed, and node n1 has not stopped its trainer "
                                                "yet: try again in some seconds")));
  EXPECT_THAT(Status(), HasSubstr("FAILED"));
}

TEST_F(ReopeningTest, AnotherJobMayHaveItsNameNow) {
  // A scenario gives a new job of the same name the same uid, so this state is made by hand.
  State state;
  Effects effects;
  Turn turn{state, effects, 1};
  for (const char* uid : {"old", "new"}) {
    v1::Job& job = *state.jobs[uid].record.mutable_job();
    job.set_uid(uid);
    job.set_name("job");
    job.mutable_status()->set_state(v1::FAILED);
  }
  state.newest["job"] = "new";
  EXPECT_TRUE(Reopen(turn, "old").ok()) << "the other one is over, too";
  state.jobs["old"].record.mutable_job()->mutable_status()->set_state(v1::FAILED);
  state.jobs["new"].record.mutable_job()->mutable_status()->set_state(v1::RUNNING);
  const absl::Status refused = Reopen(turn, "old");
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("because another job has its name now"));
  EXPECT_EQ(state.jobs["old"].record.job().status().state(), v1::FAILED);
}

TEST_F(ReopeningTest, WhatIsRefusedForAnotherReasonChangesNothing) {
  Fail();
  EndTrainers();
  for (const char* verb :
       {"resume from=nonsense", "resume from=scratch", "resume store=file:///other", "resume budget=-1"}) {
    EXPECT_THAT(Run(verb), Contains(HasSubstr("refused: "))) << verb;
    EXPECT_THAT(Status(), HasSubstr("FAILED")) << verb;
  }
  EXPECT_THAT(Run("resume"), Contains(HasSubstr("resumed: resumed by the user")));
}

TEST_F(ReopeningTest, ARecordThatCannotBeRightStaysAsItIs) {
  Fail();
  EndTrainers();
  Run("spoil batch");
  Run("restart");
  Run("node n1 up");
  EXPECT_THAT(Run("resume"), Contains(HasSubstr("cannot go on, because its spec has no batch: submit it anew")));
  EXPECT_THAT(Status(), HasSubstr("FAILED"));
}

TEST_F(ReopeningTest, ACancelledJobStaysOver) {
  Run("cancel");
  EndTrainers();
  EXPECT_THAT(Run("resume"), Contains(HasSubstr("refused: job job is over: cancelled by the user")));
}

TEST_F(ReopeningTest, ASecondResumeChangesNothing) {
  Fail();
  EndTrainers();
  Run("resume");
  EXPECT_THAT(Run("resume"), testing::IsEmpty());
  EXPECT_THAT(Status(), HasSubstr("PENDING"));
}

TEST_F(ReopeningTest, ARestartBeforeItsTrainersAreBackChangesNothing) {
  Fail();
  EndTrainers();
  Run("resume");
  Run("restart");
  Run("node n1 up");
  Run("node n2 up");
  EXPECT_THAT(Run("trainer n1/0,n2/0 incarnation=2 restorable=1-20-n1"),
              Contains(HasSubstr("generation 2 at step 20, state from checkpoint 1-20-n1")));
}

TEST_F(ReopeningTest, DeathsOfBeforeAreForgottenAndAreInTheRecordOnce) {
  State state;
  Effects effects;
  Turn turn{state, effects, 1};
  Job& job = state.jobs["uid"];
  job.record.mutable_job()->set_uid("uid");
  job.record.mutable_job()->set_name("job");
  job.record.mutable_job()->mutable_status()->set_state(v1::FAILED);
  job.record.mutable_membership()->set_generation(3);
  job.record.mutable_membership()->add_members()->set_trainer("n1/0/1");
  // As after a restart, only the record knows of the death.
  job.record.add_deaths()->set_trainer("n1/0/1");
  job.record.add_units()->set_pool("a");
  job.trainers["n2/0/1"].report.set_generation(3);
  job.trainers["n3/0/1"].report.set_generation(4);
  ASSERT_TRUE(Reopen(turn, "uid").ok());
  EXPECT_EQ(job.record.deaths_size(), 1);
  EXPECT_TRUE(job.record.deaths(0).certain());
  EXPECT_EQ(job.record.units_size(), 0);
  EXPECT_EQ(job.trainers.count("n2/0/1"), 0u);
  EXPECT_EQ(NextGeneration(job), 5) << "no later generation has the number of one that was heard of";
}

TEST_F(ReopeningTest, ItCanFailAgain) {
  Fail();
  EndTrainers();
  Run("resume");
  Run("trainer n1/0,n2/0 incarnation=2 restorable=1-20-n1");
  Fail();
  EXPECT_THAT(Run("live 30"), Not(Contains(HasSubstr("run job"))));
}

}  // namespace
}  // namespace rekindle::core
