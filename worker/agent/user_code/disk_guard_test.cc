#include "worker/agent/user_code/disk_guard.h"

#include <poll.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "common/process/process.h"
#include "worker/user_code/testing/confined_testing.h"

namespace rekindle::agent {
namespace {

using user_code::Isolation;

constexpr uid_t kTestUid = 4'199'997'000;

class Guarded : public user_code::ConfinedTest {
 protected:
  Guarded() : ConfinedTest(kTestUid) {}
  // Waits until the guard has nothing to do in the folder any more.
  static void Await(const DiskGuard& guard, const common::Waker& waker, const std::string& folder) {
    while (guard.IsBusy(folder)) {
      pollfd entry = {.fd = waker.fd(), .events = POLLIN};
      ASSERT_EQ(poll(&entry, 1, 60'000), 1) << "the guard says when it is done";
      waker.Clear();
    }
  }
  bool Exists(const std::string& name) const { return std::filesystem::exists(root_ + "/" + name); }
  void Own(const std::string& name) const {
    Write(root_ + "/" + name, "x", 0600);
    ASSERT_EQ(chown((root_ + "/" + name).c_str(), kTestUid, kTestUid), 0);
  }
};
INSTANTIATE_TEST_SUITE_P(Isolations, Guarded, ::testing::Values(Isolation::kUid));

TEST_P(Guarded, WhoWritesTooMuchLosesItsProcessesAndItsFilesAlone) {
  std::filesystem::create_directory(root_ + "/shared");
  Own("shared/own");
  Write(root_ + "/shared/other", "x", 0644);
  const std::string scratch = user_code::ScratchOf(job_.folder);
  std::filesystem::create_directory_symlink(root_ + "/secret", scratch + "/link");
  DiskGuard guard({.bytes = 1 << 20});
  guard.Watch(kTestUid, job_.folder, {root_ + "/shared"});
  const std::string ran = Run(
      "import time\nwith open('big', 'wb') as file: file.write(bytes(range(256)) * (4 << 12))\ntime.sleep(600)", job_,
      /*limit_seconds=*/60);
  EXPECT_EQ(ran, "killed by signal 9 (Killed)");
  while (Exists("shared/own") || !std::filesystem::is_empty(scratch)) usleep(1000);
  EXPECT_TRUE(Exists("shared/other"));
  EXPECT_TRUE(Exists("secret/key")) << "what a link leads to";
  EXPECT_TRUE(std::filesystem::exists(scratch));
}

TEST_P(Guarded, AnIdThatIsTakenAgainFindsNothingOfItsEarlierOwner) {
  std::filesystem::create_directory(root_ + "/shared");
  Own("shared/own");
  const common::Waker waker;
  DiskGuard guard({}, &waker);
  guard.Clean(kTestUid, job_.folder, {root_ + "/shared"});
  Await(guard, waker, job_.folder);
  EXPECT_FALSE(Exists("shared/own"));
  EXPECT_TRUE(std::filesystem::exists(user_code::ScratchOf(job_.folder)));
}

TEST_P(Guarded, ACopyIsForItsJobAloneAndAFailureIsTold) {
  std::filesystem::create_directories(root_ + "/unpacked/part");
  Write(root_ + "/unpacked/part/train.py", "x", 0600);
  Write(root_ + "/unpacked/run", "x", 0700);
  const common::Waker waker;
  DiskGuard guard({}, &waker);
  guard.Copy(job_, root_ + "/unpacked");
  Await(guard, waker, job_.folder);
  EXPECT_FALSE(guard.HasFailed(job_.folder));
  const std::string read = "print(open('../bundle/part/train.py').read(), end='')";
  EXPECT_EQ(Run(read), "x");
  EXPECT_EQ(Raises("open('../bundle/part/train.py', 'a')"), "PermissionError");
  EXPECT_EQ(Raises("os.mkdir('../bundle/more')"), "PermissionError");
  struct stat facts = {};
  ASSERT_EQ(stat((user_code::BundleOf(job_.folder) + "/run").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0550u);
  EXPECT_EQ(facts.st_gid, kTestUid);

  guard.Copy(other_, root_ + "/no-such-folder");
  Await(guard, waker, other_.folder);
  EXPECT_TRUE(guard.HasFailed(other_.folder));
  EXPECT_FALSE(guard.TakeFailure(other_.folder).ok());
  EXPECT_TRUE(guard.TakeFailure(other_.folder).ok()) << "it is told once";
  EXPECT_FALSE(std::filesystem::exists(user_code::BundleOf(other_.folder)));
}

TEST_P(Guarded, WhatIsRemovedIsBusyUntilItIsGone) {
  const common::Waker waker;
  DiskGuard guard({}, &waker);
  guard.Watch(kTestUid, job_.folder, {});
  guard.Remove(kTestUid, job_.folder);
  Await(guard, waker, job_.folder);
  EXPECT_FALSE(std::filesystem::exists(job_.folder));
  EXPECT_TRUE(std::filesystem::exists(other_.folder));
}

}  // namespace
}  // namespace rekindle::agent
