// Runs small programs as code of users, for tests.
#ifndef REKINDLE_WORKER_USER_CODE_TESTING_CONFINED_TESTING_H_
#define REKINDLE_WORKER_USER_CODE_TESTING_CONFINED_TESTING_H_

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/files/unique_fd.h"
#include "common/process/command.h"
#include "common/process/process.h"
#include "common/testing/temporary_folder_testing.h"
#include "worker/user_code/code_setting.h"
#include "worker/user_code/confinement.h"
#include "worker/user_code/disk_use.h"

namespace rekindle::user_code {

inline constexpr char kPython[] = "/usr/bin/python3";
// Tests use ids that no node uses.
inline constexpr uid_t kTestUid = 4'199'999'000;

// Starts a program that sleeps, as code of a user if there is a confinement, and waits until it runs. Before its exec a
// process is not yet its user's, nor has it closed the descriptors of this one.
inline common::Process StartSleeper(const Confinement* confinement = nullptr) {
  // The process has the writing end until it closes all that it does not keep, right before its exec.
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const common::UniqueFd runs(ends[0]);
  common::UniqueFd starts(ends[1]);
  common::SpawnOptions spawn;
  spawn.argv = {"/bin/sleep", "600"};
  spawn.new_session = true;
  if (confinement != nullptr) confinement->AddTo(&spawn);
  auto child = common::PendingChild::Start(spawn);
  EXPECT_TRUE(child.ok()) << child.status();
  child->Release();
  starts.Reset();
  char nothing = 0;
  EXPECT_EQ(read(runs.get(), &nothing, 1), 0);
  return *common::Process::Open(child->identity());
}

// Waits until the process has ended. Returns how.
inline absl::StatusOr<common::ExitStatus> AwaitExit(const common::Process& process) {
  pollfd entry = {.fd = process.fd(), .events = POLLIN, .revents = 0};
  while (poll(&entry, 1, -1) != 1) continue;
  return process.Reap();
}

// A fixture with a folder for code of users that everybody may enter. Its tests need root.
class ConfinedTest : public ::testing::TestWithParam<Isolation> {
 protected:
  // Each program of tests has ids of its own, because a test kills all processes of its ids.
  explicit ConfinedTest(uid_t uid = kTestUid) : uid_(uid) {}
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a process another user id";
    if (access(kPython, X_OK) != 0) GTEST_SKIP() << "the system has no " << kPython;
    if (GetParam() == Isolation::kUidAndLandlock && LandlockVersion() == 0) GTEST_SKIP() << "no Landlock here";
    std::filesystem::permissions(root_, std::filesystem::perms(0711));
    for (const char* name : {"data", "secret", "code"}) std::filesystem::create_directory(root_ + "/" + name);
    for (const char* name : {"data", "secret"})
      std::filesystem::permissions(root_ + "/" + name, std::filesystem::perms(0755));
    ASSERT_TRUE(MakeCodeRoot(root_ + "/code").ok());
    job_ = Setting(uid_, "job");
    other_ = Setting(uid_ + 1, "other");
    for (const CodeSetting* each : {&job_, &other_}) ASSERT_TRUE(MakeCodeFolder(*each).ok());
    Write(root_ + "/data/set", "samples", 0644);
    Write(root_ + "/secret/key", "of the node", 0600);
    Write(root_ + "/secret/open", "of another program", 0644);
  }
  void TearDown() override {
    if (geteuid() != 0) return;
    for (const CodeSetting* each : {&job_, &other_}) {
      if (each->uid == 0) continue;
      EXPECT_TRUE(KillAll(each->uid).ok());
      RemoveFilesOf(each->uid, "/dev/shm");
    }
  }

  static void Write(const std::string& path, const std::string& text, mode_t mode) {
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
  }

  CodeSetting Setting(uid_t uid, const std::string& name) const {
    return {.isolation = GetParam(),
            .uid = uid,
            .folder = root_ + "/code/" + name,
            .interpreter = kPython,
            .data_roots = {root_ + "/data"}};
  }

  // Runs a program of Python as code of the job, and returns what it wrote, and how it ended if that is not 0.
  std::string Run(const std::string& program, const CodeSetting& setting, double limit_seconds = 20) const {
    const std::vector<std::string> own = {"REKINDLE_SECRET=of the trainer"};
    const auto confinement = Confine(setting, own);
    if (!confinement.ok()) return std::string(confinement.status().message());
    const auto ran = common::RunToEnd({.argv = {kPython, "-c", program},
                                       .environment = EnvironmentOf(setting, own, {}, {}),
                                       .limit_seconds = limit_seconds,
                                       .max_bytes = 64 << 10,
                                       .confine = [&](common::SpawnOptions* spawn) { (*confinement)->AddTo(spawn); }});
    if (!ran.ok()) return std::string(ran.status().message());
    return ran->status.code == 0 ? ran->output : ran->output + ran->status.ToString();
  }
  std::string Run(const std::string& program) const { return Run(program, job_); }

  // Runs a statement and returns the name of the exception that it raises, or "nothing".
  std::string Raises(const std::string& statement) const {
    return Run("import os, signal, socket, ctypes\ntry:\n  " + statement +
               "\n  print('nothing', end='')\nexcept BaseException as error:\n  print(type(error).__name__, end='')\n");
  }

  common::TemporaryFolder temporary_;
  const std::string root_ = temporary_.path();
  const uid_t uid_;
  CodeSetting job_, other_;
};

}  // namespace rekindle::user_code

#endif  // REKINDLE_WORKER_USER_CODE_TESTING_CONFINED_TESTING_H_
