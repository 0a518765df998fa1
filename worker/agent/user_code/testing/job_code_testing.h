// Holds what the tests of job_code.h share.
#ifndef REKINDLE_WORKER_AGENT_USER_CODE_TESTING_JOB_CODE_TESTING_H_
#define REKINDLE_WORKER_AGENT_USER_CODE_TESTING_JOB_CODE_TESTING_H_

#include <poll.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "common/bundle/bundle.h"
#include "common/process/process.h"
#include "common/process/waker.h"
#include "common/testing/temporary_folder_testing.h"
#include "common/time/clock.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/user_code/job_code.h"
#include "worker/user_code/testing/confined_testing.h"

namespace rekindle::agent {

using user_code::kPython;
inline constexpr double kNever = std::numeric_limits<double>::infinity();
// Tests use ids that no node uses.
inline constexpr user_code::UidRange kIds = {4'199'998'000, 4'199'998'099};

class JobCodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::permissions(temporary_.path(), std::filesystem::perms(0711));
    auto opened = NodeFolder::Open(temporary_.path() + "/node", 1);
    ASSERT_TRUE(opened.ok()) << opened.status();
    folder_.emplace(*std::move(opened));
    root_ = CodeRootOf(*folder_);
  }
  JobCodeOptions Options(user_code::Isolation isolation = user_code::Isolation::kUid) const {
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
    return user_code::StartSleeper(confinement->get());
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
  // Makes a module of Python that stands for rekindle.warm, and says which environment it has. It begins with the lines
  // `first`.
  void MakeWarm(const std::string& first = "") {
    std::filesystem::create_directories(temporary_.path() + "/lib/rekindle");
    std::ofstream(temporary_.path() + "/lib/rekindle/__init__.py") << "";
    std::ofstream(temporary_.path() + "/lib/rekindle/warm.py")
        << first
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

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_USER_CODE_TESTING_JOB_CODE_TESTING_H_
