#include "common/process/life_lock.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::common {
namespace {

constexpr double kPatience = 20;

class LifeLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(dir_ + "/alive");
    path_ = LifeLockPath(dir_, "n1/0/abc");
  }
  void TearDown() override {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
  }

  // Starts a process that takes the lock and then runs `then`. Returns when the process holds the lock.
  void StartHolder(const std::function<void()>& then = [] {}) {
    int said[2];
    ASSERT_EQ(pipe2(said, O_CLOEXEC), 0);
    child_ = fork();
    if (child_ == 0) {
      const char ok = HoldLifeLock(path_).ok() ? 1 : 0;
      if (write(said[1], &ok, 1) != 1) _exit(99);
      then();
      for (;;) pause();
    }
    close(said[1]);
    char ok = 0;
    EXPECT_EQ(read(said[0], &ok, 1), 1);
    EXPECT_EQ(ok, 1);
    close(said[0]);
  }

  int EndOfHolder() {
    int status = 0;
    EXPECT_EQ(waitpid(std::exchange(child_, 0), &status, 0) > 0, true);
    return status;
  }

  TemporaryFolder temporary_;
  const std::string dir_ = temporary_.path();
  std::string path_;
  pid_t child_ = 0;
};

TEST_F(LifeLockTest, TellsOfEachKindOfDeathAndOnlyOfDeath) {
  const std::function<void()> kThens[] = {[] { kill(getpid(), SIGKILL); }, [] { _exit(0); }, [] { _exit(3); },
                                          [] { abort(); }};
  for (const auto& then : kThens) {
    auto lock = LifeLock::Create(path_);
    ASSERT_TRUE(lock.ok()) << lock.status();
    EXPECT_FALSE(*lock->AwaitDeath(0));
    StartHolder(then);
    auto died = lock->AwaitDeath(kPatience);
    ASSERT_TRUE(died.ok()) << died.status();
    EXPECT_TRUE(*died);
    EndOfHolder();
    // An agent that starts only after the holder's death opens the lock anew, and learns of the death at once.
    auto again = LifeLock::Open(path_);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(*again->AwaitDeath(0));
  }
}

TEST_F(LifeLockTest, AFrozenProcessLives) {
  auto lock = LifeLock::Create(path_);
  ASSERT_TRUE(lock.ok()) << lock.status();
  StartHolder();
  ASSERT_EQ(kill(child_, SIGSTOP), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child_, &status, WUNTRACED), child_);
  EXPECT_FALSE(*lock->AwaitDeath(0.05));
  ASSERT_EQ(kill(child_, SIGCONT), 0);
  EXPECT_FALSE(*lock->AwaitDeath(0.05));
  ASSERT_EQ(kill(child_, SIGKILL), 0);
  EXPECT_TRUE(*lock->AwaitDeath(kPatience));
}

// A kill that comes later does not change the exit code of a process that has begun to end.
TEST_F(LifeLockTest, AKillAfterItChangesNoExitCode) {
  auto lock = LifeLock::Create(path_);
  ASSERT_TRUE(lock.ok()) << lock.status();
  StartHolder([] { exit(3); });
  ASSERT_TRUE(*lock->AwaitDeath(kPatience));
  kill(child_, SIGKILL);
  const int status = EndOfHolder();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST_F(LifeLockTest, IsHeldByOneAndNeverAgain) {
  auto lock = LifeLock::Create(path_);
  ASSERT_TRUE(lock.ok()) << lock.status();
  StartHolder();
  EXPECT_TRUE(absl::IsFailedPrecondition(HoldLifeLock(path_)));
  ASSERT_EQ(kill(child_, SIGKILL), 0);
  EXPECT_TRUE(*lock->AwaitDeath(kPatience));
  EXPECT_TRUE(absl::IsFailedPrecondition(HoldLifeLock(path_)));
}

TEST_F(LifeLockTest, AFileThatIsCutOffIsDamagedAndHarmsNobody) {
  auto lock = LifeLock::Create(path_);
  ASSERT_TRUE(lock.ok()) << lock.status();
  StartHolder();
  ASSERT_EQ(truncate(path_.c_str(), 0), 0);
  EXPECT_TRUE(absl::IsDataLoss(lock->AwaitDeath(kPatience).status()));
  EXPECT_TRUE(absl::IsDataLoss(LifeLock::Open(path_).status()));
}

TEST_F(LifeLockTest, MissingOrNoLock) {
  EXPECT_TRUE(absl::IsNotFound(LifeLock::Open(path_).status()));
  EXPECT_TRUE(absl::IsNotFound(HoldLifeLock(path_)));
  std::ofstream(path_) << "abc";
  EXPECT_TRUE(absl::IsDataLoss(LifeLock::Open(path_).status()));
  EXPECT_TRUE(absl::IsDataLoss(HoldLifeLock(path_)));
  EXPECT_FALSE(LifeLock::Create(dir_ + "/nowhere/x").ok());
}

TEST_F(LifeLockTest, WhoChangesItForEverKeepsNobodyBusy) {
  auto lock = LifeLock::Create(path_);
  ASSERT_TRUE(lock.ok()) << lock.status();
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    const UniqueFd file(open(path_.c_str(), O_RDWR | O_CLOEXEC));
    for (uint32_t word = 1; !stop; word = word % FUTEX_TID_MASK + 1) {
      if (pwrite(file.get(), &word, sizeof word, 0) != sizeof word) return;
      lock->Wake();
    }
  });
  auto died = lock->AwaitDeath(kPatience);
  // A call of Wake may have ended the wait before the holder's death, so the test waits again.
  while (died.ok() && !*died) died = lock->AwaitDeath(kPatience);
  stop = true;
  writer.join();
  EXPECT_TRUE(absl::IsDataLoss(died.status())) << died.status();
}

TEST_F(LifeLockTest, WakeEndsAWait) {
  auto lock = LifeLock::Create(path_);
  ASSERT_TRUE(lock.ok()) << lock.status();
  std::atomic<bool> done = false;
  std::thread waker([&] {
    while (!done) lock->Wake();
  });
  EXPECT_FALSE(*lock->AwaitDeath(1000));
  done = true;
  waker.join();
}

}  // namespace
}  // namespace rekindle::common
