#include "cli/text/final_save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/time/clock.h"

namespace rekindle::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Finishing, SaysSinceWhenHowOftenAtWhatCostAndWhy) {
  v1::JobStatus status;
  status.mutable_cost()->set_currency("USD");
  v1::FinishingStatus& finishing = *status.mutable_finishing();
  finishing.set_since(common::WallSeconds() - 100);
  finishing.set_tries(3);
  finishing.set_error("the disk is full");
  EXPECT_THAT(DescribeFinalSave(status), HasSubstr("for 100 s, 3 tries failed, another is under way\n"));
  EXPECT_THAT(DescribeFinalSave(status), HasSubstr("the disk is full"));
  finishing.set_next_try(common::WallSeconds() + 30);
  finishing.set_spent(1.5);
  EXPECT_THAT(DescribeFinalSave(status), HasSubstr("the next in 30 s; kept for 1.50 USD so far"));
}

std::string WarningOf(const v1::JobSpec::Checkpoint& checkpoint) {
  v1::Job job;
  job.set_name("job");
  *job.mutable_status()->mutable_resolved_spec()->mutable_checkpoint() = checkpoint;
  testing::internal::CaptureStderr();
  WarnIfNothingIsKept(job);
  return testing::internal::GetCapturedStderr();
}

TEST(Finishing, WarnsOfAJobThatTakesNoCheckpoints) {
  v1::JobSpec::Checkpoint checkpoint;
  checkpoint.set_store("file:///store");
  checkpoint.set_every_steps(0);
  EXPECT_THAT(WarningOf(checkpoint), HasSubstr("nothing of job job will be kept"));
  checkpoint.set_every_steps(50);
  EXPECT_THAT(WarningOf(checkpoint), IsEmpty());
  checkpoint.clear_every_steps();
  checkpoint.set_interval("auto");
  EXPECT_THAT(WarningOf(checkpoint), IsEmpty());
  checkpoint.clear_store();
  EXPECT_THAT(WarningOf(checkpoint), Not(IsEmpty()));
}

}  // namespace
}  // namespace rekindle::cli
