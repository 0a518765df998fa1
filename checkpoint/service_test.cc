// The service as a process of its own, and its client: saving, restoring, and each side vanishing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "checkpoint/client.h"
#include "checkpoint/inspect.h"
#include "checkpoint/service_process.h"
#include "checkpoint/testing.h"
#include "common/clock.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kTotal = 5 * kBlockElements + 77;

// Polls the service, which has no event for it, until `done`; false after 5 s.
template <typename Done>
bool Eventually(Done done) {
  const double until = common::SteadySeconds() + 5;
  while (!done()) {
    if (common::SteadySeconds() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

Manifest ManifestOf(int generation, int step, std::vector<ShardRef> refs) {
  std::sort(refs.begin(), refs.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  return {.generation = generation, .step = step, .shards = std::move(refs), .scalars = R"({"cursor":128})"};
}

// As one trainer that writes all shards.
absl::StatusOr<std::string> SaveAll(CheckpointClient& client, int generation, int step, const TestState& state,
                                    int keep_last = 0) {
  auto staged = client.Stage(generation, step, kTotal, CutShards(kTotal, 1));
  if (!staged.ok()) return staged.status();
  absl::Status status = (*staged)->Copy(state.view());
  if (status.ok()) status = (*staged)->Commit();
  if (!status.ok()) return status;
  return client.WriteManifest(ManifestOf(generation, step, (*staged)->refs()), keep_last, 0);
}

class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override { service_.Start(); }

  ServiceProcess service_;
  const TestState state_ = TestState::Random(kTotal, 1);
};

TEST_F(ServiceTest, ThreeRanksSaveAndAnyoneRestores) {
  const auto shards = CutShards(kTotal, 3);
  std::vector<ShardRef> refs;
  std::vector<std::unique_ptr<CheckpointClient>> clients;
  for (int rank = 0; rank < 3; ++rank) {
    clients.push_back(service_.Client("node-a/" + std::to_string(rank)));
    auto staged = clients.back()->Stage(4, 100, kTotal, ShardsOf(shards, rank));
    ASSERT_TRUE(staged.ok()) << staged.status();
    ASSERT_TRUE((*staged)->Copy(state_.view()).ok());
    ASSERT_TRUE((*staged)->Commit().ok());
    refs.insert(refs.end(), (*staged)->refs().begin(), (*staged)->refs().end());
  }
  const Manifest manifest = ManifestOf(4, 100, refs);
  const auto name = clients[0]->WriteManifest(manifest, 2, 0);
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_EQ(*name, "4-100-node-a_0");
  EXPECT_EQ(clients[0]->WriteManifest(manifest, 2, 0).value(), *name);  // Repeating is harmless.

  const auto newest = clients[1]->FindNewest();
  ASSERT_TRUE(newest.ok() && newest->found) << newest.status();
  EXPECT_EQ(newest->name, *name);
  EXPECT_EQ(newest->highest_generation, 4);
  EXPECT_EQ(newest->manifest.scalars, R"({"cursor":128})");
  TestState restored(kTotal);
  const auto got = clients[2]->Restore(5, *name, restored.writable());
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->step, 100);
  EXPECT_TRUE(restored == state_);
  EXPECT_EQ(clients[0]->GetInfo()->staged_bytes, 0);
  EXPECT_THAT(service_.Segments(), IsEmpty());

  const auto listed = ListCheckpoints(service_.store(), "job-1");
  ASSERT_THAT(*listed, SizeIs(1));
  EXPECT_EQ((*listed)[0].problem, "");
  EXPECT_TRUE(VerifyCheckpoint(service_.store(), "job-1", *name).ok());
}

TEST_F(ServiceTest, KeepsTheLastAndNamesWhatItSkips) {
  auto client = service_.Client();
  for (int step : {10, 20, 30, 40}) {
    ASSERT_TRUE(SaveAll(*client, 1, step, TestState::Random(kTotal, step), 2).ok());
  }
  const auto listed = ListCheckpoints(service_.store(), "job-1");
  ASSERT_THAT(*listed, SizeIs(2));
  const std::string folder = service_.dir() + "/store/job-1/";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder + "shards"), {}), 2);

  std::filesystem::resize_file(folder + "manifests/1-40-node-a_0.json", 50);
  const auto newest = client->FindNewest();
  ASSERT_TRUE(newest.ok() && newest->found);
  EXPECT_EQ(newest->name, "1-30-node-a_0");
  ASSERT_THAT(newest->skipped, SizeIs(1));
  EXPECT_THAT(newest->skipped[0], HasSubstr("1-40-node-a_0: manifest: truncated"));
  TestState restored(kTotal);
  EXPECT_FALSE(client->Restore(2, "1-40-node-a_0", restored.writable()).ok());
  ASSERT_TRUE(client->Restore(2, newest->name, restored.writable()).ok());
  EXPECT_TRUE(restored == TestState::Random(kTotal, 30));
}

TEST_F(ServiceTest, KilledBetweenStageAndCommitTheClientStagesAgain) {
  auto client = service_.Client();
  auto staged = client->Stage(1, 10, kTotal, CutShards(kTotal, 1));
  ASSERT_TRUE(staged.ok()) << staged.status();
  ASSERT_TRUE((*staged)->Copy(state_.view()).ok());
  const std::string before = client->GetInfo()->incarnation;
  EXPECT_EQ(service_.Kill(SIGKILL), -SIGKILL);
  std::ofstream(service_.shm() + "/foreign") << "not ours";
  service_.Start();
  ASSERT_TRUE((*staged)->Commit().ok());
  EXPECT_NE(client->GetInfo()->incarnation, before);
  const auto name = client->WriteManifest(ManifestOf(1, 10, (*staged)->refs()), 1, 0);
  ASSERT_TRUE(name.ok()) << name.status();
  TestState restored(kTotal);
  ASSERT_TRUE(client->Restore(2, *name, restored.writable()).ok());
  EXPECT_TRUE(restored == state_);
  // What the killed one had lent is gone; what is not its own was left alone.
  EXPECT_THAT(service_.Segments(), ::testing::ElementsAre(service_.shm() + "/foreign"));
}

TEST_F(ServiceTest, KilledAtAnyTimeWhileSavingNothingTornIsFound) {
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
    const auto newest = reader->FindNewest();
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
  EXPECT_EQ(client->FindNewest()->manifest.step, 20);
}

TEST_F(ServiceTest, AwayIsAClearErrorWithinThePatience) {
  ASSERT_TRUE(service_.Client()->GetInfo().ok());
  EXPECT_EQ(service_.Kill(SIGTERM), 0);  // Clean.
  auto client = service_.Client("t", "", /*patience=*/0.2);
  const double start = common::SteadySeconds();
  const auto found = client->FindNewest();
  EXPECT_LT(common::SteadySeconds() - start, 5);
  EXPECT_TRUE(absl::IsUnavailable(found.status())) << found.status();
  EXPECT_THAT(std::string(found.status().message()), HasSubstr(service_.socket()));
  service_.Start();
  EXPECT_TRUE(service_.Client()->FindNewest().ok());
}

// Run by OwnerDiesHalfWay in a process of its own.
TEST(Helper, DISABLED_StageAndWait) {
  auto client = CheckpointClient::Create(
      {.socket = ::getenv("TEST_SOCKET"), .store = "file:///tmp/none", .job_uid = "job-1", .trainer = "dying"});
  auto staged = (*client)->Stage(1, 10, kTotal, CutShards(kTotal, 1));
  ASSERT_TRUE(staged.ok()) << staged.status();
  while (true) ::pause();
}

TEST_F(ServiceTest, OwnerDiesHalfWayAndItsMemoryIsGivenBack) {
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

TEST_F(ServiceTest, ChangedAfterHandOverIsRefused) {
  auto client = service_.Client();
  auto staged = client->Stage(1, 10, kTotal, CutShards(kTotal, 1));
  ASSERT_TRUE((*staged)->Copy(state_.view()).ok());
  ASSERT_THAT(service_.Segments(), SizeIs(1));
  std::fstream segment(service_.Segments()[0], std::ios::in | std::ios::out | std::ios::binary);
  segment.seekp(1000);
  segment.put('!');
  segment.close();
  const absl::Status torn = (*staged)->Commit();
  EXPECT_TRUE(absl::IsDataLoss(torn)) << torn;
  EXPECT_TRUE(std::filesystem::is_empty(service_.dir() + "/store/job-1/shards"));
  EXPECT_TRUE(SaveAll(*client, 1, 10, state_).ok());
}

TEST_F(ServiceTest, DroppedShardsGiveTheirMemoryBack) {
  auto client = service_.Client();
  {
    auto staged = client->Stage(1, 10, kTotal, CutShards(kTotal, 1));
    ASSERT_TRUE(staged.ok());
    EXPECT_THAT(service_.Segments(), SizeIs(1));
  }
  EXPECT_EQ(client->GetInfo()->staged_bytes, 0);
  EXPECT_THAT(service_.Segments(), IsEmpty());
}

TEST(ServiceLimitTest, MoreThanTheLimitIsRefusedAndTheServiceLives) {
  ServiceProcess service("5MiB");
  service.Start();
  auto client = service.Client();
  auto first = client->Stage(1, 10, kTotal, CutShards(kTotal, 1));  // Near 4 MiB.
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = client->Stage(1, 10, kTotal, CutShards(kTotal, 1));
  EXPECT_TRUE(absl::IsResourceExhausted(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("--memory-limit"));
  first->reset();
  EXPECT_TRUE(client->Stage(1, 10, kTotal, CutShards(kTotal, 1)).ok());
}

TEST_F(ServiceTest, TheCommitterWaitsForTheShardsOfOthers) {
  auto committer = service_.Client("a");
  auto other = service_.Client("b");
  const auto shards = CutShards(kTotal, 2);
  auto mine = committer->Stage(1, 10, kTotal, ShardsOf(shards, 0));
  auto theirs = other->Stage(1, 10, kTotal, ShardsOf(shards, 1));
  ASSERT_TRUE((*mine)->Copy(state_.view()).ok() && (*theirs)->Copy(state_.view()).ok());
  ASSERT_TRUE((*mine)->Commit().ok());
  std::vector<ShardRef> refs = (*mine)->refs();
  refs.insert(refs.end(), (*theirs)->refs().begin(), (*theirs)->refs().end());
  const auto missing = committer->WriteManifest(ManifestOf(1, 10, refs), 0, 0);
  EXPECT_TRUE(absl::IsNotFound(missing.status())) << missing.status();
  std::jthread late([&] { EXPECT_TRUE((*theirs)->Commit().ok()); });
  EXPECT_TRUE(committer->WriteManifest(ManifestOf(1, 10, refs), 0, 10).ok());
}

TEST_F(ServiceTest, CancelEndsAWaitingCall) {
  auto client = service_.Client();
  auto staged = client->Stage(1, 10, kTotal, CutShards(kTotal, 1));
  ASSERT_TRUE((*staged)->Copy(state_.view()).ok());
  std::jthread cancel([&] { client->Cancel(); });
  const auto name = client->WriteManifest(ManifestOf(1, 10, (*staged)->refs()), 0, 60);
  EXPECT_TRUE(absl::IsCancelled(name.status())) << name.status();
  EXPECT_TRUE(absl::IsCancelled(client->GetInfo().status()));
}

TEST_F(ServiceTest, AnOlderGenerationIsRefused) {
  auto client = service_.Client();
  ASSERT_TRUE(SaveAll(*client, 5, 50, state_).ok());
  auto zombie = service_.Client("zombie");
  const auto late = SaveAll(*zombie, 4, 90, TestState::Random(kTotal, 2));
  EXPECT_TRUE(absl::IsFailedPrecondition(late.status())) << late.status();
  EXPECT_EQ(client->FindNewest()->manifest.step, 50);
}

TEST_F(ServiceTest, BadStoresAndArgumentsAreNamed) {
  auto s3 = service_.Client("t", "s3://bucket/folder");
  const auto unsupported = s3->Stage(1, 10, kTotal, CutShards(kTotal, 1));
  EXPECT_TRUE(absl::IsInvalidArgument(unsupported.status()));
  EXPECT_THAT(std::string(unsupported.status().message()), HasSubstr("file:///folder"));
  std::ofstream(service_.dir() + "/file") << "x";
  auto below_file = service_.Client("t", "file://" + service_.dir() + "/file/store");
  EXPECT_FALSE(SaveAll(*below_file, 1, 10, state_).ok());
  auto client = service_.Client();
  TestState state(kTotal);
  for (const char* name : {"../../etc/passwd", "1-10", "1-10-../x", ""}) {
    EXPECT_TRUE(absl::IsInvalidArgument(client->Restore(1, name, state.writable()).status())) << name;
  }
  EXPECT_TRUE(absl::IsNotFound(client->Restore(1, "1-10-t", state.writable()).status()));
  ASSERT_TRUE(SaveAll(*client, 1, 10, state_).ok());
  TestState smaller(kTotal - 1);
  EXPECT_TRUE(absl::IsInvalidArgument(client->Restore(1, "1-10-node-a_0", smaller.writable()).status()));
  EXPECT_FALSE(
      CheckpointClient::Create({.socket = "/s", .store = "file:///x", .job_uid = "../x", .trainer = "t"}).ok());
}

TEST_F(ServiceTest, OneServiceAFolder) {
  ASSERT_TRUE(service_.Client()->GetInfo().ok());
  auto second = common::PendingChild::Start({.argv = {REKINDLE_CHECKPOINT_BINARY, "--dir", service_.dir() + "/node"}});
  const pid_t pid = second->identity().pid;
  second->Release();
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_TRUE(service_.Client()->GetInfo().ok());
}

TEST_F(ServiceTest, AFullDiskFailsTheSaveAndNothingElse) {
  const std::string small = service_.dir() + "/small";
  std::filesystem::create_directory(small);
  if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=6m") != 0) GTEST_SKIP() << "cannot mount a tmpfs: not root";
  auto client = service_.Client("t", "file://" + small);
  ASSERT_TRUE(SaveAll(*client, 1, 10, state_).ok());
  const auto full = SaveAll(*client, 1, 20, TestState::Random(kTotal, 2));
  EXPECT_TRUE(absl::IsResourceExhausted(full.status())) << full.status();
  EXPECT_THAT(std::string(full.status().message()), HasSubstr("No space left"));
  EXPECT_EQ(client->FindNewest()->manifest.step, 10);
  ASSERT_EQ(::mount("", small.c_str(), "", MS_REMOUNT | MS_RDONLY, ""), 0);
  const auto read_only = SaveAll(*client, 1, 30, TestState::Random(kTotal, 3));
  EXPECT_TRUE(absl::IsPermissionDenied(read_only.status())) << read_only.status();
  ASSERT_EQ(::mount("", small.c_str(), "", MS_REMOUNT, "size=32m"), 0);
  EXPECT_TRUE(SaveAll(*client, 1, 40, TestState::Random(kTotal, 4)).ok());
  EXPECT_EQ(client->FindNewest()->manifest.step, 40);
  ::umount(small.c_str());
}

}  // namespace
}  // namespace rekindle::checkpoint
