// Tests the calls of a generation's members that are answered without the loop's thread: those for leases and for the
// job's file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/format/framed_job_file.h"
#include "common/digest/sha256.h"
#include "common/time/clock.h"
#include "coordinator/core/record/job_json.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

MATCHER_P(IsOkAndHolds, value, "") { return arg.ok() && *arg == value; }

using testing::HasSubstr;
using testing::Not;

class MemberAnswersTest : public ServerFixture {};

TEST_F(MemberAnswersTest, OnlyTheNewestMembershipStands) {
  Start();
  v1::TrainerReport report;
  v1::Membership membership = RunOne("job", &report).membership();
  EXPECT_THAT(Renew(report, membership), IsOkAndHolds(true));
  v1::Membership other = membership;
  other.set_digest("that of another coordinator");
  EXPECT_THAT(Renew(report, other), IsOkAndHolds(false));
  v1::TrainerReport stranger = report;
  stranger.set_job_secret("a guess");
  EXPECT_THAT(Renew(stranger, membership), IsOkAndHolds(false));
  Restart();
  // A member can renew its lease as soon as the restarted coordinator has read the records, before anybody has
  // reported.
  while (!*Renew(report, membership)) {
  }
  report.set_phase(v1::TRAINER_INTERRUPTED);
  ASSERT_TRUE(Sync(report).ok());
  EXPECT_THAT(Renew(report, membership), IsOkAndHolds(false));
}

TEST_F(MemberAnswersTest, TheJobsFileIsForItsTrainersAndSaysHowTheJobEnded) {
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  const auto first = AskForJobFile(report);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(first->stands()) << "that is another question";
  EXPECT_FALSE(first->job_is_over());
  const auto inner = checkpoint::DecodeJobFile(first->job_file(), report.job_uid());
  ASSERT_TRUE(inner.ok()) << inner.status();
  const auto file = core::ParseJobFile(*inner);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->identity().cluster(), first->identity().cluster());
  EXPECT_EQ(file->record().job().name(), "job");
  EXPECT_EQ(file->record().membership().generation(), 1);
  EXPECT_EQ(file->secret_sha256(), common::Sha256Hex(report.job_secret()));
  EXPECT_THAT(first->job_file(), Not(HasSubstr(report.job_secret())));
  const auto again = AskForJobFile(report, first->job_file_digest());
  if (again->job_file_digest() == first->job_file_digest()) {
    EXPECT_EQ(again->job_file(), "");
  }
  v1::TrainerReport stranger = report;
  stranger.set_job_secret("a guess");
  EXPECT_EQ(AskForJobFile(stranger)->job_file_digest(), "");

  ASSERT_TRUE(Cancel("job").ok());
  for (int starts = 0; starts < 2; ++starts) {
    const auto last = AskForJobFile(report);
    ASSERT_TRUE(last.ok()) << last.status();
    EXPECT_TRUE(last->job_is_over());
    const auto ended = core::ParseJobFile(*checkpoint::DecodeJobFile(last->job_file(), report.job_uid()));
    ASSERT_TRUE(ended.ok()) << ended.status();
    EXPECT_TRUE(ended->over());
    EXPECT_THAT(ended->over_reason(), HasSubstr("cancelled by the user"));
    if (starts == 0) Restart();
  }
}

// Another node gets the job only once no member of the previous generation can renew its lease any more.
TEST_F(MemberAnswersTest, AfterTheEndOfALeaseItsMembersAreNotAnswered) {
  options_.tunables.node_lost_seconds = 0.2;
  options_.tunables.lease_seconds = 0.5;
  options_.tunables.lease_save_seconds = options_.tunables.lease_step_seconds = 0.25;
  Start();
  ASSERT_TRUE(Sync(AgentReport("node-b")).ok());
  v1::TrainerReport report;
  const v1::Membership membership = RunOne("job", &report).membership();
  EXPECT_EQ(membership.lease_seconds(), 0.5);
  ASSERT_TRUE(Sync(report).ok());
  const double begun = common::BootSeconds();
  double answered = begun;
  // For 2 s the trainer renews its lease of 0.5 s again and again. The generation must not end in this time.
  while (answered < begun + 2) {
    ASSERT_THAT(Renew(report, membership), IsOkAndHolds(true));
    answered = common::BootSeconds();
  }
  EXPECT_EQ(Get("job")->status().generation(), 1);
  EXPECT_EQ(Get("job")->status().state(), v1::RUNNING);
  while (Get("job")->status().state() == v1::RUNNING) {
  }
  EXPECT_GE(common::BootSeconds(), answered + 1);
  EXPECT_THAT(Renew(report, membership), IsOkAndHolds(false));
}

}  // namespace
}  // namespace rekindle::coordinator
