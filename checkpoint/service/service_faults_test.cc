// Checks what happens when the checkpoint service, its client, its store or its memory vanish, one at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "checkpoint/client/client.h"
#include "checkpoint/store/store_room.h"
#include "checkpoint/testing/framed_job_file_testing.h"
#include "checkpoint/testing/service_process.h"
#include "checkpoint/testing/testing.h"
#include "common/files/disk_space.h"
#include "common/time/clock.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kTotal = kServiceTotal;

class ServiceFaultsTest : public ServiceTest {
 protected:
  // Returns a state without exceptions (planes.h), because some tests stop the service while a client copies the state.
  // To copy exceptions, the client would have to ask the service for more memory.
  static TestState Plain(int step = 1) {
    TestState state(kTotal);
    for (size_t i = 0; i < state.weights.size(); ++i) {
      state.weights[i] = 0.25f * static_cast<float>((i + static_cast<size_t>(step)) % 100);
      // The moments have bits in both planes, so that the states of two steps have no shard in common.
      state.first_moment[i] = 1.0f / static_cast<float>(step + 3);
      state.second_moment[i] = 1.0f / static_cast<float>(step + 4);
    }
    return state;
  }
};

// Runs a checkpoint service with a small file system for its store. One state of Plain() needs 3.8 MiB there.
class SmallDiskTest : public ServiceFaultsTest {
 protected:
  // Mounts a small file system for the store. If that is not possible, the test is skipped.
  void MountSmall(const char* size) {
    std::filesystem::create_directory(small_);
    if (::mount("tmpfs", small_.c_str(), "tmpfs", 0, absl::StrCat("size=", size).c_str()) != 0) {
      GTEST_SKIP() << "cannot mount a tmpfs: not root";
    }
    mounted_ = true;
    client_ = service_.Client("t", "file://" + small_);
  }
  void TearDown() override {
    client_.reset();
    if (mounted_) ::umount2(small_.c_str(), MNT_DETACH);
  }
  void Remount(unsigned long flags, const char* options) {  // NOLINT(google-runtime-int): mount(2) takes unsigned long.
    ASSERT_EQ(::mount("", small_.c_str(), "", MS_REMOUNT | flags, options), 0);
  }
  int64_t Free() const { return common::SpaceOf(small_)->free; }
  int64_t Kept() const { return KeptFree(common::SpaceOf(small_)->total); }
  // Returns all files of the store, including unfinished ones.
  std::set<std::string> Files() const {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(small_)) files.insert(entry.path());
    return files;
  }

  const std::string small_ = service_.dir() + "/small";
  bool mounted_ = false;
  std::unique_ptr<CheckpointClient> client_;
};

TEST_F(ServiceFaultsTest, KilledBetweenStageAndCommitTheClientStagesAgain) {
  auto client = service_.Client();
  auto staged = client->Stage({1, 10, kTotal}, CutShards(kTotal, 1));
  ASSERT_TRUE(staged.ok()) << staged.status();
  const std::string before = client->GetInfo()->incarnation;
  // The service is stopped, so that it commits no shard before the test kills it.
  service_.Signal(SIGSTOP);
  const TestState state = Plain();
  ASSERT_TRUE((*staged)->Copy(state.view()).ok());
  EXPECT_EQ(service_.Kill(SIGKILL), -SIGKILL);
  std::ofstream(service_.shm() + "/foreign") << "not ours";
  service_.Start();
  ASSERT_TRUE((*staged)->Commit().ok());
  EXPECT_NE(client->GetInfo()->incarnation, before);
  const auto name = client->WriteManifest(ManifestOf(1, 10, (*staged)->refs()), {}, {.keep_last = 1}, 0);
  ASSERT_TRUE(name.ok()) << name.status();
  TestState restored(kTotal);
  ASSERT_TRUE(client->Restore(2, *name, restored.writable()).ok());
  EXPECT_TRUE(restored == state);
  // The shared memory that the killed service had lent is gone, and the new service holds its own. A foreign file is
  // left alone.
  EXPECT_THAT(service_.Segments(), ::testing::AllOf(SizeIs(3), ::testing::Contains(service_.shm() + "/foreign")));
}

TEST_F(ServiceFaultsTest, KilledAtAnyTimeWhileSavingNothingTornIsFound) {
  auto client = service_.Client();
  ASSERT_TRUE(client->GetInfo().ok());
  std::atomic<bool> done{false};
  std::jthread saver([&] {
    for (int step = 1; step <= 20; ++step) {
      const auto name = SaveAll(*client, 1, step, TestState::Random(kTotal, step), 2);
      EXPECT_TRUE(name.ok()) << name.status();
    }
    done = true;
  });
  for (int kills = 0; kills < 10 && !done; ++kills) {
    service_.Kill(SIGKILL);
    service_.Start();
    auto reader = service_.Client("reader");
    const auto newest = reader->FindNewest(/*verify=*/true);
    ASSERT_TRUE(newest.ok()) << newest.status();
    EXPECT_THAT(newest->skipped, IsEmpty());
    if (!newest->found) continue;
    TestState restored(kTotal);
    // The restore may fail, because the service may have collected the checkpoint since the search found it.
    if (reader->Restore(2, newest->name, restored.writable()).ok()) {
      EXPECT_TRUE(restored == TestState::Random(kTotal, newest->manifest.step));
    }
  }
  saver.join();
  EXPECT_EQ(client->FindNewest(/*verify=*/true)->manifest.step, 20);
}

TEST_F(ServiceFaultsTest, AwayIsAClearErrorWithinThePatience) {
  ASSERT_TRUE(service_.Client()->GetInfo().ok());
  // SIGTERM ends the service cleanly.
  EXPECT_EQ(service_.Kill(SIGTERM), 0);
  auto client = service_.Client("t", "", /*patience=*/0.2);
  const double start = common::SteadySeconds();
  const auto found = client->FindNewest(/*verify=*/true);
  EXPECT_LT(common::SteadySeconds() - start, 5);
  EXPECT_TRUE(absl::IsUnavailable(found.status())) << found.status();
  EXPECT_THAT(std::string(found.status().message()), HasSubstr(service_.socket()));
  service_.Start();
  EXPECT_TRUE(service_.Client()->FindNewest(/*verify=*/true).ok());
}

// The test OwnerDiesHalfWay runs this helper in a process of its own.
TEST(Helper, DISABLED_StageAndWait) {
  auto client = CheckpointClient::Create(
      {.socket = ::getenv("TEST_SOCKET"), .store = "file:///tmp/none", .job_uid = "job-1", .trainer = "dying"});
  auto staged = (*client)->Stage({1, 10, kTotal}, CutShards(kTotal, 1));
  ASSERT_TRUE(staged.ok()) << staged.status();
  while (true) ::pause();
}

TEST_F(ServiceFaultsTest, OwnerDiesHalfWayAndItsMemoryIsGivenBack) {
  auto child = common::PendingChild::Start(
      {.argv = {"/proc/self/exe", "--gtest_filter=Helper.DISABLED_StageAndWait", "--gtest_also_run_disabled_tests"},
       .environment = {"TEST_SOCKET=" + service_.socket()},
       .parent_death_signal = SIGKILL});
  ASSERT_TRUE(child.ok());
  const pid_t pid = child->identity().pid;
  child->Release();
  auto client = service_.Client();
  ASSERT_TRUE(Eventually([&] { return client->GetInfo()->staged_bytes > 0; }));
  // The killed trainer is a zombie, because it was not reaped yet. A zombie owns no segments.
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(Eventually([&] { return client->GetInfo()->staged_bytes == 0; }));
  EXPECT_THAT(service_.Segments(), IsEmpty());
  ::waitpid(pid, nullptr, 0);
}

TEST_F(ServiceFaultsTest, ChangedAfterHandOverIsRefused) {
  auto client = service_.Client();
  auto staged = client->Stage({1, 10, kTotal}, CutShards(kTotal, 1));
  // The service is stopped, so that it reads the copied shards only after the test has changed them in shared memory.
  service_.Signal(SIGSTOP);
  const TestState state = Plain();
  ASSERT_TRUE((*staged)->Copy(state.view()).ok());
  for (const std::string& path : service_.Segments()) {
    std::fstream segment(path, std::ios::in | std::ios::out | std::ios::binary);
    segment.seekp(1000);
    segment.put('!');
  }
  service_.Signal(SIGCONT);
  const absl::Status torn = (*staged)->Commit();
  EXPECT_TRUE(absl::IsDataLoss(torn)) << torn;
  // Commit fails as soon as one plane is refused. The other plane may then still be in a temporary file, which is
  // removed when that plane is refused, too.
  EXPECT_TRUE(Eventually([&] { return std::filesystem::is_empty(service_.dir() + "/store/job-1/shards"); }));
  EXPECT_TRUE(SaveAll(*client, 1, 10, state_).ok());
}

TEST_F(SmallDiskTest, AFullDiskFailsTheSaveAndNothingElse) {
  MountSmall("7m");
  if (IsSkipped()) return;
  ASSERT_TRUE(SaveAll(*client_, 1, 10, Plain(10)).ok());
  const std::set<std::string> files = Files();
  const int64_t free = Free();
  const auto full = SaveAll(*client_, 1, 20, Plain(20));
  EXPECT_TRUE(absl::IsResourceExhausted(full.status())) << full.status();
  EXPECT_THAT(std::string(full.status().message()), HasSubstr("file://" + small_ + " has 3."));
  EXPECT_THAT(std::string(full.status().message()), HasSubstr("free some disk space there"));
  EXPECT_EQ(Files(), files) << "its first shard would have fitted, and nothing of it is there";
  EXPECT_EQ(Free(), free);
  EXPECT_EQ(client_->FindNewest(/*verify=*/true)->manifest.step, 10);
  Remount(MS_RDONLY, "size=32m");
  const auto read_only = SaveAll(*client_, 1, 30, Plain(30));
  EXPECT_TRUE(absl::IsPermissionDenied(read_only.status())) << read_only.status();
  Remount(0, "");
  EXPECT_TRUE(SaveAll(*client_, 1, 40, Plain(40)).ok());
  EXPECT_EQ(client_->FindNewest(/*verify=*/true)->manifest.step, 40);
}

TEST_F(SmallDiskTest, WhatIsSmallAndWhatIsThereAlreadyUsesTheRoomThatIsKept) {
  MountSmall("7m");
  if (IsSkipped()) return;
  ASSERT_TRUE(SaveAll(*client_, 1, 10, Plain(10)).ok());
  std::ofstream(small_ + "/filler") << std::string(static_cast<size_t>(Free() - Kept() / 2), 'x');
  ASSERT_LT(Free(), Kept());
  EXPECT_TRUE(absl::IsResourceExhausted(SaveAll(*client_, 1, 20, Plain(20)).status()));
  ASSERT_TRUE(client_->WriteJobFile(1, JobFileOf("job-1"), 30).ok());
  TestState restored(kTotal);
  ASSERT_TRUE(client_->Restore(2, "1-10-t", restored.writable()).ok());
  const auto again = SaveAll(*client_, 2, 10, Plain(10), /*keep_last=*/1);
  // The disk has no room for new shards, but the store already holds the shards of the repeated save, so the save
  // succeeds. After this save the checkpoint of generation 1 is collected.
  ASSERT_TRUE(again.ok()) << again.status();
  Store store(*common::PosixFileSystem(), small_);
  ASSERT_TRUE(Eventually([&] { return store.List("job-1")->size() == 1; }));
  EXPECT_TRUE(std::filesystem::exists(small_ + "/job-1/generations/2"));
  ASSERT_TRUE(store.Remove("job-1", {*again}, /*force=*/true, common::WallSeconds()).ok());
  EXPECT_GT(Free(), 3 << 20);
  EXPECT_TRUE(std::filesystem::remove(small_ + "/filler"));
  EXPECT_TRUE(SaveAll(*client_, 2, 30, Plain(30)).ok());
}

TEST_F(SmallDiskTest, WhatNobodyNeedsIsCollectedBeforeASaveIsRefused) {
  MountSmall("12m");
  if (IsSkipped()) return;
  ASSERT_TRUE(SaveAll(*client_, 1, 10, Plain(10)).ok());
  ASSERT_TRUE(SaveAll(*client_, 1, 20, Plain(20)).ok());
  // The test creates the file that a save would have left behind if it had been refused half-way two hours ago.
  const std::string orphan = small_ + "/job-1/shards/" + std::string(32, 'a') + ".safetensors";
  std::ofstream(orphan) << std::string(2 << 20, 'x');
  std::filesystem::last_write_time(orphan, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_LT(Free(), (3 << 20) + Kept());
  const auto saved = SaveAll(*client_, 1, 30, Plain(30));
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_FALSE(std::filesystem::exists(orphan));
  EXPECT_GE(Free(), Kept() - (1 << 16)) << "less by what is small alone";
  EXPECT_EQ(Store(*common::PosixFileSystem(), small_).List("job-1")->size(), 3u) << "what the rules keep stays";
}

}  // namespace
}  // namespace rekindle::checkpoint
