// Tests which trainers are launched.
#include "worker/agent/trainers/trainer_launch.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(LaunchTrainer, AProgramThatIsMissingIsSaidAndNothingIsLeft) {
  const common::TemporaryFolder temporary;
  const auto folder = NodeFolder::Open(temporary.path() + "/node", 1);
  ASSERT_TRUE(folder.ok()) << folder.status();
  const LaunchOptions options = {.trainer_binary = temporary.path() + "/none/trainer",
                                 .own_trainer_binary = temporary.path() + "/none/own",
                                 .node = "n1"};
  v1::DesiredTrainer desired;
  desired.set_job_uid("uid");
  desired.set_job_name("tiny");
  const absl::Status builtin = LaunchTrainer(options, *folder, desired, SlotDevice(), {}, 0).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(builtin)) << builtin;
  EXPECT_THAT(std::string(builtin.message()), AllOf(HasSubstr("/none/trainer"), HasSubstr("--trainer-binary")));
  desired.mutable_spec()->mutable_model()->set_python("train:task");
  const absl::Status own = LaunchTrainer(options, *folder, desired, SlotDevice(), {}, 0).status();
  EXPECT_THAT(std::string(own.message()), HasSubstr("/none/own"));
  EXPECT_TRUE(std::filesystem::is_empty(folder->RecordFolder()));
  EXPECT_TRUE(std::filesystem::is_empty(folder->dir() + "/jobs")) << "the job's secret";
}

}  // namespace
}  // namespace rekindle::agent
