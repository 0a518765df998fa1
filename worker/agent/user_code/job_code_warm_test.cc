// Tests which warm processes are started for jobs, when they end, and when they are started again.
#include <poll.h>
#include <unistd.h>

#include <csignal>
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

TEST_F(JobCodeTest, TheWarmProcessHasTheNodesValuesAndNothingOfTheAgent) {
  if (access(kPython, X_OK) != 0) GTEST_SKIP() << "the system has no " << kPython;
  MakeWarm();
  JobCodeOptions options = Options(Isolation::kNone);
  options.python = kPython;
  v1::DesiredTrainer desired = Plain("job");
  desired.mutable_spec()->mutable_model()->add_env_from("TEST_TOKEN");
  const std::string values = folder_->dir() + "/env_from";
  std::ofstream(values) << "TEST_TOKEN=of the node\n";
  std::filesystem::permissions(values, std::filesystem::perms(0644));
  JobCode code(options, &*folder_, &waker_);
  code.Adopt();
  Await(code, desired);
  ASSERT_TRUE(code.Prepare(desired).ok());
  EXPECT_THAT(code.WatchFds(), IsEmpty()) << "others may read the values, so nothing runs with them";
  std::filesystem::permissions(values, std::filesystem::perms(0600));
  const double later = common::SteadySeconds() + 1000;
  code.Keep({"job"}, later);
  ASSERT_THAT(code.WatchFds(), SizeIs(1));
  const std::string seen = user_code::ScratchOf(code.SettingOf("job")->folder) + "/seen";
  while (!std::filesystem::exists(seen)) usleep(1000);
  EXPECT_EQ(Read(seen), "of the node nothing");
  EXPECT_EQ(Read(Records().at(0)).find("of the node"), std::string::npos);
  LeaveAll(code);
}

TEST_F(JobCodeTest, AFolderThatNoJobMayReadIsNotImportedFrom) {
  if (access(kPython, X_OK) != 0) GTEST_SKIP() << "the system has no " << kPython;
  MakeWarm();
  JobCodeOptions options = Options(Isolation::kNone);
  options.python = kPython;
  options.data_roots = {temporary_.path() + "/data"};
  for (const char* name : {"/data/own", "/other"}) std::filesystem::create_directories(temporary_.path() + name);
  std::filesystem::create_directory_symlink("/", temporary_.path() + "/data/link");
  JobCode code(options, &*folder_, &waker_);
  code.Adopt();
  v1::DesiredTrainer desired = Plain("job");
  double later = common::SteadySeconds();
  for (const char* name : {"/other", "/data/link", "/data/none"}) {
    desired.mutable_spec()->mutable_model()->set_folder(temporary_.path() + name);
    Await(code, desired);
    ASSERT_TRUE(code.Prepare(desired).ok()) << "the trainer says what is wrong";
    code.Keep({"job"}, later += 1000);
    EXPECT_THAT(code.WatchFds(), IsEmpty()) << name;
  }
  desired.mutable_spec()->mutable_model()->set_folder(temporary_.path() + "/data/own");
  Await(code, desired);
  ASSERT_TRUE(code.Prepare(desired).ok());
  code.Keep({"job"}, later += 1000);
  EXPECT_THAT(code.WatchFds(), SizeIs(1));
  LeaveAll(code);
}

TEST_F(JobCodeTest, NothingRunsThatTheNextAgentWouldNotKnowOf) {
  if (access(kPython, X_OK) != 0) GTEST_SKIP() << "the system has no " << kPython;
  MakeWarm();
  JobCodeOptions options = Options(Isolation::kNone);
  options.python = kPython;
  JobCode code(options, &*folder_, &waker_);
  code.Adopt();
  Await(code, Plain("job"));
  std::filesystem::remove_all(folder_->WarmFolder());
  EXPECT_FALSE(code.Prepare(Plain("job")).ok());
  EXPECT_THAT(code.WatchFds(), IsEmpty());
  std::filesystem::create_directory(folder_->WarmFolder());
  EXPECT_TRUE(code.Prepare(Plain("job")).ok());
  LeaveAll(code);
}

TEST_F(JobCodeTest, AJobThatComesBackWaitsForTheEndOfItsWarmProcess) {
  if (access(kPython, X_OK) != 0) GTEST_SKIP() << "the system has no " << kPython;
  MakeWarm("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n");
  JobCodeOptions options = Options(Isolation::kNone);
  options.python = kPython;
  JobCode code(options, &*folder_, &waker_);
  code.Adopt();
  Await(code, Plain("job"));
  ASSERT_TRUE(code.Prepare(Plain("job")).ok());
  ASSERT_THAT(code.WatchFds(), SizeIs(1));
  const auto first = ReadWarmRecord(Records().at(0));
  ASSERT_TRUE(first.ok());
  const std::string seen = user_code::ScratchOf(code.SettingOf("job")->folder) + "/seen";
  while (!std::filesystem::exists(seen)) usleep(1000);
  double at = code.Keep({}, common::SteadySeconds());
  ASSERT_NE(at, kNever) << "the process is asked to end, and does not";
  while (at != kNever) {
    EXPECT_FALSE(code.IsReady(Plain("job")));
    at = code.Keep({"job"}, at);
    usleep(10'000);
  }
  EXPECT_FALSE(first->process.Alive());
  Await(code, Plain("job"));
  ASSERT_TRUE(code.Prepare(Plain("job")).ok());
  const auto second = ReadWarmRecord(Records().at(0));
  ASSERT_TRUE(second.ok());
  EXPECT_NE(second->process.pid, 0);
  EXPECT_NE(second->process, first->process);
  LeaveAll(code);
}

TEST_F(JobCodeTest, AWarmProcessThatDiesIsStartedAgainLater) {
  if (access(kPython, X_OK) != 0) GTEST_SKIP() << "the system has no " << kPython;
  MakeWarm();
  JobCodeOptions options = Options(Isolation::kNone);
  options.python = kPython;
  JobCode code(options, &*folder_, &waker_);
  code.Adopt();
  Await(code, Plain("job"));
  ASSERT_TRUE(code.Prepare(Plain("job")).ok());
  ASSERT_THAT(code.WatchFds(), SizeIs(1));
  const auto first = ReadWarmRecord(Records().at(0));
  ASSERT_TRUE(first.ok() && first->process.Alive());
  ASSERT_TRUE(first->process.SendSignal(SIGKILL).ok());
  pollfd entry = {.fd = code.WatchFds()[0], .events = POLLIN};
  ASSERT_EQ(poll(&entry, 1, 60'000), 1);
  const double now = common::SteadySeconds();
  const double again = code.Keep({"job"}, now);
  EXPECT_GT(again, now) << "not at once";
  EXPECT_THAT(code.WatchFds(), IsEmpty());
  EXPECT_EQ(ReadWarmRecord(Records().at(0))->process.pid, 0);
  code.Keep({"job"}, again);
  EXPECT_THAT(code.WatchFds(), SizeIs(1));
  EXPECT_NE(ReadWarmRecord(Records().at(0))->process, first->process);
  LeaveAll(code);
}

}  // namespace
}  // namespace rekindle::agent
