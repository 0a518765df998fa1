// The service, its client, its store and its memory vanish, one at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "checkpoint/client.h"
#include "checkpoint/service_process.h"
#include "checkpoint/testing.h"
#include "common/clock.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kTotal = kServiceTotal;

class ServiceFaultsTest : public ServiceTest {
 protected:
  // Without exceptions, for which a copy would ask the service for more room.
  static TestState Plain() {
    TestState state(kTotal);
    for (size_t i = 0; i < state.weights.size(); ++i) state.weights[i] = 0.25f * static_cast<float>(i % 100);
    return state;
  }
};

TEST_F(ServiceFaultsTest, KilledBetweenStageAndCommitTheClientStagesAgain) {
  auto client = service_.Client();
  auto staged = client->Stage({1, 10, kTotal}, CutShards(kTotal, 1));
  ASSERT_TRUE(staged.ok()) << staged.status();
  const std::string before = client->GetInfo()->incarnation;
  service_.Signal(SIGSTOP);  // Nothing is committed yet.
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
  // What the killed one had lent is gone, and the new one holds its own; what is not its own was left alone.
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
    // It may have been collected since.
    if (reader->Restore(2, newest->name, restored.writable()).ok()) {
      EXPECT_TRUE(restored == TestState::Random(kTotal, newest->manifest.step));
    }
  }
  saver.join();
  EXPECT_EQ(client->FindNewest(/*verify=*/true)->manifest.step, 20);
}

TEST_F(ServiceFaultsTest, AwayIsAClearErrorWithinThePatience) {
  ASSERT_TRUE(service_.Client()->GetInfo().ok());
  EXPECT_EQ(service_.Kill(SIGTERM), 0);  // Clean.
  auto client = service_.Client("t", "", /*patience=*/0.2);
  const double start = common::SteadySeconds();
  const auto found = client->FindNewest(/*verify=*/true);
  EXPECT_LT(common::SteadySeconds() - start, 5);
  EXPECT_TRUE(absl::IsUnavailable(found.status())) << found.status();
  EXPECT_THAT(std::string(found.status().message()), HasSubstr(service_.socket()));
  service_.Start();
  EXPECT_TRUE(service_.Client()->FindNewest(/*verify=*/true).ok());
}

// Run by OwnerDiesHalfWay in a process of its own.
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
  ::kill(pid, SIGKILL);  // Not reaped yet: a zombie owns nothing.
  EXPECT_TRUE(Eventually([&] { return client->GetInfo()->staged_bytes == 0; }));
  EXPECT_THAT(service_.Segments(), IsEmpty());
  ::waitpid(pid, nullptr, 0);
}

TEST_F(ServiceFaultsTest, ChangedAfterHandOverIsRefused) {
  auto client = service_.Client();
  auto staged = client->Stage({1, 10, kTotal}, CutShards(kTotal, 1));
  service_.Signal(SIGSTOP);  // So that it reads after the change.
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
  // The other plane may be on its way still.
  EXPECT_TRUE(Eventually([&] { return std::filesystem::is_empty(service_.dir() + "/store/job-1/shards"); }));
  EXPECT_TRUE(SaveAll(*client, 1, 10, state_).ok());
}

TEST_F(ServiceFaultsTest, AFullDiskFailsTheSaveAndNothingElse) {
  const std::string small = service_.dir() + "/small";
  std::filesystem::create_directory(small);
  if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=6m") != 0) GTEST_SKIP() << "cannot mount a tmpfs: not root";
  auto client = service_.Client("t", "file://" + small);
  ASSERT_TRUE(SaveAll(*client, 1, 10, state_).ok());
  const auto full = SaveAll(*client, 1, 20, TestState::Random(kTotal, 2));
  EXPECT_TRUE(absl::IsResourceExhausted(full.status())) << full.status();
  EXPECT_THAT(std::string(full.status().message()), HasSubstr("No space left"));
  EXPECT_EQ(client->FindNewest(/*verify=*/true)->manifest.step, 10);
  ASSERT_EQ(::mount("", small.c_str(), "", MS_REMOUNT | MS_RDONLY, ""), 0);
  const auto read_only = SaveAll(*client, 1, 30, TestState::Random(kTotal, 3));
  EXPECT_TRUE(absl::IsPermissionDenied(read_only.status())) << read_only.status();
  ASSERT_EQ(::mount("", small.c_str(), "", MS_REMOUNT, "size=32m"), 0);
  EXPECT_TRUE(SaveAll(*client, 1, 40, TestState::Random(kTotal, 4)).ok());
  EXPECT_EQ(client->FindNewest(/*verify=*/true)->manifest.step, 40);
  ::umount(small.c_str());
}

}  // namespace
}  // namespace rekindle::checkpoint
