#include "worker/agent/user_code/job_code.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/agent/user_code/testing/job_code_testing.h"
#include "worker/agent/user_code/warm_record.h"

namespace rekindle::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using user_code::Isolation;

TEST_F(JobCodeTest, WhereNothingIsolatesCodeIsRefusedUnlessAPersonAllowsIt) {
  JobCodeOptions options = Options(Isolation::kNone);
  options.may_be_unisolated = false;
  JobCode refusing(options, &*folder_, &waker_);
  EXPECT_TRUE(refusing.IsReady(Plain("a"))) << "the refusal need not wait";
  EXPECT_TRUE(absl::IsPermissionDenied(refusing.Prepare(Plain("a")).status()));
  EXPECT_THAT(Records(), IsEmpty());
}

TEST_F(IsolatedJobCode, AJobHasAnIdAndACopyOfItsBundleAndLeavesNothing) {
  JobCode code(Options(), &*folder_, &waker_);
  code.Adopt();
  const v1::DesiredTrainer first = WithBundle("first"), second = WithBundle("second");
  EXPECT_FALSE(code.Prepare(first).ok()) << "the copy is not there yet";
  for (const auto& desired : {first, second}) {
    Await(code, desired);
    const auto arguments = code.Prepare(desired);
    ASSERT_TRUE(arguments.ok()) << arguments.status();
    EXPECT_THAT(*arguments, ::testing::Contains(user_code::BundleOf(code.SettingOf(desired.job_uid())->folder)));
  }
  EXPECT_THAT(Records(), SizeIs(2));
  const user_code::CodeSetting one = *code.SettingOf("first"), two = *code.SettingOf("second");
  EXPECT_NE(one.uid, two.uid);
  EXPECT_TRUE(user_code::CheckReach(one.uid, {user_code::BundleOf(one.folder)}).ok());
  EXPECT_FALSE(user_code::CheckReach(two.uid, {user_code::BundleOf(one.folder)}).ok());
  EXPECT_FALSE(user_code::CheckReach(one.uid, {common::NodeBundleFolder(folder_->dir(), std::string(64, 'a'))}).ok());

  const common::Process of_one = Sleeper(one), of_two = Sleeper(two);
  code.Keep({"second"}, common::SteadySeconds());
  EXPECT_TRUE(user_code::AwaitExit(of_one).ok());
  AwaitRemoval(one.folder);
  EXPECT_FALSE(of_two.Exited());
  EXPECT_TRUE(std::filesystem::exists(two.folder));
  EXPECT_FALSE(code.SettingOf("first").has_value());
  LeaveAll(code);
  EXPECT_TRUE(user_code::AwaitExit(of_two).ok());
  AwaitRemoval(two.folder);
  EXPECT_THAT(Records(), IsEmpty());
}

TEST_F(IsolatedJobCode, AJobThatComesBackWaitsForTheEndOfTheRemoval) {
  JobCode code(Options(), &*folder_, &waker_);
  code.Adopt();
  const v1::DesiredTrainer desired = WithBundle("job");
  for (int i = 0; i < 20; ++i) {
    Await(code, desired);
    ASSERT_TRUE(code.Prepare(desired).ok());
    const std::string folder = code.SettingOf("job")->folder;
    for (int file = 0; file < 200; ++file) {
      std::ofstream(user_code::ScratchOf(folder) + "/" + std::to_string(file)) << "x";
    }
    code.Keep({}, common::SteadySeconds());
    EXPECT_TRUE(!code.IsReady(desired) || std::filesystem::is_empty(user_code::ScratchOf(folder)));
  }
}

TEST_F(IsolatedJobCode, TheNextAgentKnowsWhatIsThereAndRemovesWhatIsNobodys) {
  const v1::DesiredTrainer desired = WithBundle("job");
  user_code::CodeSetting before;
  {
    JobCode code(Options(), &*folder_, &waker_);
    code.Adopt();
    Await(code, desired);
    ASSERT_TRUE(code.Prepare(desired).ok());
    before = *code.SettingOf("job");
  }
  std::filesystem::create_directories(root_ + "/0123abcd/scratch");
  std::filesystem::create_directories(root_ + "/probe-17");
  std::filesystem::create_directories(root_ + "/of-a-person");
  const common::Process process = Sleeper(before);
  JobCode code(Options(), &*folder_, &waker_);
  code.Adopt();
  AwaitRemoval(root_ + "/0123abcd");
  AwaitRemoval(root_ + "/probe-17");
  EXPECT_TRUE(std::filesystem::exists(root_ + "/of-a-person"));
  code.Keep({"job"}, common::SteadySeconds());
  Await(code, desired);
  ASSERT_TRUE(code.Prepare(desired).ok());
  EXPECT_EQ(code.SettingOf("job")->uid, before.uid);
  EXPECT_FALSE(process.Exited());
  LeaveAll(code);
  EXPECT_TRUE(user_code::AwaitExit(process).ok());
  AwaitRemoval(before.folder);
}

TEST_F(IsolatedJobCode, AfterABootAnIdOfTheBootBeforeIsLeftAlone) {
  const v1::DesiredTrainer desired = WithBundle("job");
  user_code::CodeSetting before;
  {
    JobCode code(Options(), &*folder_, &waker_);
    code.Adopt();
    Await(code, desired);
    ASSERT_TRUE(code.Prepare(desired).ok());
    before = *code.SettingOf("job");
  }
  ASSERT_THAT(Records(), SizeIs(1));
  auto record = ReadWarmRecord(Records()[0]);
  ASSERT_TRUE(record.ok());
  record->boot_id = "another";
  std::ofstream(Records()[0]) << ToJson(*record);
  // In this boot the id belongs to another agent's job.
  std::filesystem::remove_all(temporary_.path() + "/claims");
  std::filesystem::create_directories(temporary_.path() + "/of-another");
  const user_code::CodeSetting other = {
      .isolation = Isolation::kUid, .uid = before.uid, .folder = temporary_.path() + "/of-another"};
  ASSERT_TRUE(user_code::MakeCodeFolder(other).ok());
  ASSERT_EQ(*user_code::TakeUid({before.uid, before.uid}, "x", other.folder, Options().uid_places), before.uid);
  const common::Process process = Sleeper(other);
  JobCode code(Options(), &*folder_, &waker_);
  code.Adopt();
  EXPECT_THAT(Records(), IsEmpty());
  LeaveAll(code);
  AwaitRemoval(before.folder);
  EXPECT_FALSE(process.Exited()) << "it is another agent's";
  Await(code, desired);
  ASSERT_TRUE(code.Prepare(desired).ok());
  EXPECT_NE(code.SettingOf("job")->uid, before.uid);
  EXPECT_TRUE(user_code::KillAll(before.uid).ok());
  EXPECT_TRUE(user_code::AwaitExit(process).ok());
}

// Takes from this thread, for a while, the right to become another user.
class WithoutOtherUsers {
 public:
  WithoutOtherUsers() {
    syscall(SYS_capget, &header_, before_);
    __user_cap_data_struct less[_LINUX_CAPABILITY_U32S_3] = {before_[0], before_[1]};
    less[0].effective &= ~(1U << CAP_SETUID);
    syscall(SYS_capset, &header_, less);
  }
  ~WithoutOtherUsers() { syscall(SYS_capset, &header_, before_); }

 private:
  __user_cap_header_struct header_ = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct before_[_LINUX_CAPABILITY_U32S_3] = {};
};

TEST_F(IsolatedJobCode, WhatCannotBeKilledIsNotForgotten) {
  JobCode code(Options(), &*folder_, &waker_);
  code.Adopt();
  const v1::DesiredTrainer desired = WithBundle("job");
  Await(code, desired);
  ASSERT_TRUE(code.Prepare(desired).ok());
  const user_code::CodeSetting setting = *code.SettingOf("job");
  const common::Process process = Sleeper(setting);
  const double now = common::SteadySeconds();
  {
    const WithoutOtherUsers without;
    const double again = code.Keep({}, now);
    EXPECT_GT(again, now);
    EXPECT_NE(again, kNever);
  }
  EXPECT_FALSE(process.Exited());
  EXPECT_THAT(Records(), SizeIs(1));
  EXPECT_TRUE(std::filesystem::exists(setting.folder));
  LeaveAll(code);
  EXPECT_TRUE(user_code::AwaitExit(process).ok());
  AwaitRemoval(setting.folder);
}

}  // namespace
}  // namespace rekindle::agent
