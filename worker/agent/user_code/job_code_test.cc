#include "worker/agent/user_code/job_code.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/bundle/bundle.h"
#include "common/process/command.h"
#include "common/testing/temporary_folder_testing.h"
#include "common/time/clock.h"
#include "worker/user_code/confinement.h"

namespace rekindle::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using user_code::Isolation;

constexpr char kPython[] = "/usr/bin/python3";
constexpr double kNever = std::numeric_limits<double>::infinity();
// Tests use ids that no node uses.
constexpr user_code::UidRange kIds = {4'199'998'000, 4'199'998'099};

class JobCodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::permissions(temporary_.path(), std::filesystem::perms(0711));
    auto opened = NodeFolder::Open(temporary_.path() + "/node", 1);
    ASSERT_TRUE(opened.ok()) << opened.status();
    folder_.emplace(*std::move(opened));
    root_ = CodeRootOf(*folder_);
  }
  JobCodeOptions Options(Isolation isolation = Isolation::kUid) const {
    return {.isolation = isolation,
            .may_be_unisolated = true,
            .uids = kIds,
            .uid_places = {.claims = temporary_.path() + "/claims"}};
  }
  // Returns a job whose code is a bundle that is unpacked on this node.
  v1::DesiredTrainer WithBundle(const std::string& job_uid) {
    const std::string address(64, 'a');
    const std::string unpacked = common::NodeBundleFolder(folder_->dir(), address);
    std::filesystem::create_directories(unpacked);
    std::ofstream(unpacked + "/train.py") << "x";
    v1::DesiredTrainer desired = Plain(job_uid);
    desired.mutable_spec()->mutable_model()->set_bundle(address);
    return desired;
  }
  static v1::DesiredTrainer Plain(const std::string& job_uid) {
    v1::DesiredTrainer desired;
    desired.set_job_uid(job_uid);
    desired.set_job_name("job");
    desired.mutable_spec()->mutable_model()->set_python("train:task");
    return desired;
  }
  void Await(JobCode& code, const v1::DesiredTrainer& desired) const {
    while (!code.IsReady(desired)) AwaitNews();
  }
  void AwaitNews() const {
    pollfd entry = {.fd = waker_.fd(), .events = POLLIN};
    ASSERT_EQ(poll(&entry, 1, 60'000), 1);
    waker_.Clear();
  }
  // Calls Keep() without jobs until nothing is left to do.
  static void LeaveAll(JobCode& code) {
    for (double at = 0; at != kNever;) {
      at = code.Keep({}, common::SteadySeconds());
      usleep(10'000);
    }
  }
  void AwaitRemoval(const std::string& path) const {
    while (std::filesystem::exists(path)) AwaitNews();
  }
  static common::Process Sleeper(const user_code::CodeSetting& setting) {
    auto confinement = user_code::Confine(setting, {});
    EXPECT_TRUE(confinement.ok()) << confinement.status();
    common::SpawnOptions spawn;
    spawn.argv = {"/bin/sleep", "600"};
    spawn.new_session = true;
    (*confinement)->AddTo(&spawn);
    auto child = common::PendingChild::Start(spawn);
    EXPECT_TRUE(child.ok()) << child.status();
    child->Release();
    return *common::Process::Open(child->identity());
  }
  std::vector<std::string> Records() const {
    std::vector<std::string> records;
    for (const auto& entry : std::filesystem::directory_iterator(folder_->WarmFolder())) {
      if (entry.path().extension() == ".json") records.push_back(entry.path().string());
    }
    return records;
  }
  static std::string Read(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  // Makes a module of Python that stands for rekindle.warm, and says which environment it has.
  void MakeWarm() {
    std::filesystem::create_directories(temporary_.path() + "/lib/rekindle");
    std::ofstream(temporary_.path() + "/lib/rekindle/__init__.py") << "";
    std::ofstream(temporary_.path() + "/lib/rekindle/warm.py")
        << "import os, time\n"
           "text = os.environ.get('TEST_TOKEN', '') + ' ' + os.environ.get('TEST_OF_AGENT', 'nothing')\n"
           "with open(os.environ['TMPDIR'] + '/new', 'w') as file: file.write(text)\n"
           "os.rename(os.environ['TMPDIR'] + '/new', os.environ['TMPDIR'] + '/seen')\n"
           "time.sleep(600)\n";
    setenv("PYTHONPATH", (temporary_.path() + "/lib").c_str(), 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    setenv("TEST_OF_AGENT", "secret", 1);
  }
  void TearDown() override {
    for (const char* name : {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "TEST_OF_AGENT"}) unsetenv(name);
  }

  common::TemporaryFolder temporary_;
  const common::Waker waker_;
  std::optional<NodeFolder> folder_;
  std::string root_;
};

// Gives each job a user id, which only root can do.
class IsolatedJobCode : public JobCodeTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a process another user id";
    JobCodeTest::SetUp();
  }
};

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
  while (!of_one.Exited()) usleep(1000);
  EXPECT_TRUE(of_one.Reap().ok());
  AwaitRemoval(one.folder);
  EXPECT_FALSE(of_two.Exited());
  EXPECT_TRUE(std::filesystem::exists(two.folder));
  EXPECT_FALSE(code.SettingOf("first").has_value());
  LeaveAll(code);
  while (!of_two.Exited()) usleep(1000);
  EXPECT_TRUE(of_two.Reap().ok());
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
  while (!process.Exited()) usleep(1000);
  EXPECT_TRUE(process.Reap().ok());
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
  while (!process.Exited()) usleep(1000);
  EXPECT_TRUE(process.Reap().ok());
}

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
