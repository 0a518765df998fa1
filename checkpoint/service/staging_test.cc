#include "checkpoint/service/staging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StagingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    me_ = {.job_uid = "job", .trainer = "t", .process = common::Identify(::getpid()).value(), .generation = 1};
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.push_back(entry.path().filename());
    return names;
  }

  common::TemporaryFolder temporary_{"/dev/shm"};
  const std::string folder_ = temporary_.path();
  SegmentOwner me_;
};

TEST_F(StagingTest, LendsUpToTheLimit) {
  Staging staging(folder_, "rk-", 10'000);
  auto first = staging.Open(me_, 6'000);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(std::filesystem::file_size((*first)->path), 6'000u);
  const auto second = staging.Open(me_, 4'001);
  EXPECT_TRUE(absl::IsResourceExhausted(second.status()));
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("6000 of 10000 in use"));
  EXPECT_TRUE(staging.Open(me_, 4'000).ok());
  EXPECT_EQ(staging.bytes(), 10'000);
  // The test still uses the released segment, as a running call would, so the segment counts as used memory until the
  // test drops it.
  staging.Release(me_, {(*first)->name});
  EXPECT_TRUE(absl::IsNotFound(staging.Find(me_, (*first)->name).status()));
  EXPECT_EQ(staging.bytes(), 10'000);
  first = absl::UnknownError("done");
  EXPECT_EQ(staging.idle_bytes(), 6'000);
  EXPECT_TRUE(absl::IsInvalidArgument(staging.Open(me_, 0).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(staging.Open(me_, INT64_MAX).status()));
}

TEST_F(StagingTest, WhatIsNotNeededIsGivenBack) {
  Staging staging(folder_, "rk-", 10'000);
  auto segment = staging.Open(me_, 6'000);
  ASSERT_TRUE(segment.ok()) << segment.status();
  EXPECT_TRUE(absl::IsInvalidArgument(staging.Shrink(**segment, 0)));
  EXPECT_TRUE(absl::IsInvalidArgument(staging.Shrink(**segment, 6'001)));
  ASSERT_TRUE(staging.Shrink(**segment, 1'000).ok());
  EXPECT_EQ(std::filesystem::file_size((*segment)->path), 1'000u);
  EXPECT_EQ(staging.bytes(), 1'000);
  EXPECT_TRUE(staging.Open(me_, 9'000).ok());
  staging.Release(me_, {(*segment)->name});
  segment = absl::UnknownError("done");
  EXPECT_EQ(staging.idle_bytes(), 1'000);
}

TEST_F(StagingTest, KnowsWhatEachJobHasAndForgetsWhatWasReleased) {
  Staging staging(folder_, "rk-", 10'000);
  SegmentOwner other = me_;
  other.job_uid = "other";
  auto first = staging.Open(me_, 3'000).value();
  const auto second = staging.Open(me_, 2'000).value();
  const auto theirs = staging.Open(other, 1'000).value();
  EXPECT_EQ(staging.LentTo("job"), 5'000);
  EXPECT_EQ(staging.LentTo("other"), 1'000);
  EXPECT_EQ(staging.LentTo("none"), 0);
  ASSERT_TRUE(staging.Shrink(*second, 1'500).ok());
  EXPECT_EQ(staging.LentTo("job"), 4'500);
  staging.Release(me_, {first->name});
  EXPECT_EQ(staging.LentTo("job"), 1'500) << "in use still, and not to be written any more";
}

TEST_F(StagingTest, AProcessGetsItsOwnMemoryAgain) {
  Staging staging(folder_, "rk-", 10'000);
  auto segment = staging.Open(me_, 4'000).value();
  const std::string path = segment->path;
  const auto reader = staging.Share(me_, segment);
  ASSERT_TRUE(staging.Shrink(*segment, 3'900).ok());
  staging.Release(me_, {segment->name});
  segment.reset();
  // The reader still uses the memory of the released segment, so the next segment gets other memory.
  EXPECT_NE(staging.Open(me_, 4'000).value()->path, path);
  staging.Release(me_, {reader});
  EXPECT_EQ(staging.idle_bytes(), 3'900);
  segment = staging.Open(me_, 4'000).value();
  EXPECT_EQ(segment->path, path);
  EXPECT_EQ(std::filesystem::file_size(path), 4'000u);
  EXPECT_EQ(staging.bytes(), 8'000);
  EXPECT_EQ(staging.idle_bytes(), 0);
  // Idle memory is removed when a segment of another size or for another process needs room.
  staging.Release(me_, {segment->name});
  segment.reset();
  EXPECT_TRUE(staging.Open(me_, 5'000).ok());
  EXPECT_EQ(staging.bytes(), 9'000);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(StagingTest, MemoryOfAnotherCutIsOfNoUse) {
  Staging staging(folder_, "rk-", 10'000);
  const std::string name = staging.Open(me_, 4'000).value()->name;
  staging.Release(me_, {name});
  EXPECT_EQ(staging.idle_bytes(), 4'000);
  SegmentOwner later = me_;
  later.generation = 2;
  ASSERT_TRUE(staging.Open(later, 2'000).ok());
  EXPECT_EQ(staging.bytes(), 2'000);
}

TEST_F(StagingTest, ASegmentIsItsOwnersAlone) {
  Staging staging(folder_, "rk-", 10'000);
  const std::string name = staging.Open(me_, 100).value()->name;
  EXPECT_TRUE(staging.Find(me_, name).ok());
  for (const auto& change : {+[](SegmentOwner& o) { o.generation = 2; }, +[](SegmentOwner& o) { o.job_uid = "other"; },
                             +[](SegmentOwner& o) { ++o.process.start_time_ticks; }}) {
    SegmentOwner other = me_;
    change(other);
    EXPECT_TRUE(absl::IsPermissionDenied(staging.Find(other, name).status()));
  }
  SegmentOwner other = me_;
  ++other.process.pid;
  staging.Release(other, {name, "rk-unknown", "../x"});
  EXPECT_TRUE(staging.Find(me_, name).ok());
}

TEST_F(StagingTest, TheMemoryOfTheDeadIsTaken) {
  const pid_t child = ::fork();
  if (child == 0) {
    while (true) ::pause();
  }
  Staging staging(folder_, "rk-", 10'000);
  SegmentOwner owner = me_;
  owner.process = common::Identify(child).value();
  ASSERT_TRUE(staging.Open(owner, 9'000).ok());
  ASSERT_TRUE(staging.Open(me_, 1'000).ok());
  EXPECT_EQ(staging.RemoveOfDead(), 0);
  ::kill(child, SIGKILL);
  siginfo_t info;
  // A zombie counts as dead, so it can own no segment.
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(absl::IsFailedPrecondition(staging.Open(owner, 100).status()));
  // The memory of a dead owner is taken back when another segment needs it.
  EXPECT_TRUE(staging.Open(me_, 9'000).ok());
  EXPECT_EQ(staging.bytes(), 10'000);
  ::waitpid(child, nullptr, 0);
}

TEST_F(StagingTest, LeavesNothingAndCleansUpAfterItsPredecessorOnly) {
  std::ofstream(folder_ + "/rk-7") << "old";
  std::ofstream(folder_ + "/other-7") << "foreign";
  {
    Staging staging(folder_, "rk-", 10'000);
    EXPECT_EQ(staging.RemoveLeftovers().value(), 1);
    ASSERT_TRUE(staging.Open(me_, 100).ok());
  }
  EXPECT_THAT(Files(), ElementsAre("other-7"));
  Staging nowhere(folder_ + "/none", "rk-", 10'000);
  EXPECT_TRUE(absl::IsNotFound(nowhere.RemoveLeftovers().status()));
  EXPECT_FALSE(nowhere.Open(me_, 100).ok());
  EXPECT_EQ(nowhere.bytes(), 0);
}

TEST_F(StagingTest, AFileOfAnotherUserKeepsNobodyFromStarting) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  std::ofstream(folder_ + "/rk-mine") << "foreign";
  std::ofstream(folder_ + "/rk-7") << "old";
  ASSERT_EQ(chown((folder_ + "/rk-mine").c_str(), 65534, 65534), 0);
  Staging staging(folder_, "rk-", 10'000);
  EXPECT_EQ(staging.RemoveLeftovers().value(), 1);
  EXPECT_THAT(Files(), ElementsAre("rk-mine"));
}

TEST_F(StagingTest, ManyThreads) {
  Staging staging(folder_, "rk-", 20'000);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          const auto segment = staging.Open(me_, 6'000);
          EXPECT_LE(staging.bytes(), 20'000);
          staging.RemoveOfDead();
          if (segment.ok()) staging.Release(me_, {(*segment)->name});
        }
      });
    }
  }
  EXPECT_EQ(staging.bytes(), staging.idle_bytes());
}

}  // namespace
}  // namespace rekindle::checkpoint
