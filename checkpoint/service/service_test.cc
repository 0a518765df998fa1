// Runs the checkpoint service in a process of its own and checks with its client how it saves, restores and refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include "checkpoint/client/client.h"
#include "checkpoint/testing/framed_job_file_testing.h"
#include "checkpoint/testing/service_process.h"
#include "checkpoint/testing/testing.h"
#include "common/rpc/rpc.h"
#include "common/time/clock.h"
#include "rekindle/v1/checkpoint.grpc.pb.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int64_t kTotal = kServiceTotal;

TEST_F(ServiceTest, ThreeRanksSaveAndAnyoneRestores) {
  const auto shards = CutShards(kTotal, 3);
  std::vector<ShardRef> refs;
  std::vector<std::unique_ptr<CheckpointClient>> clients;
  for (int rank = 0; rank < 3; ++rank) {
    clients.push_back(service_.Client("node-a/" + std::to_string(rank)));
    auto staged = clients.back()->Stage({4, 100, kTotal}, ShardsOf(shards, rank));
    ASSERT_TRUE(staged.ok()) << staged.status();
    ASSERT_TRUE((*staged)->Copy(state_.view()).ok());
    ASSERT_TRUE((*staged)->Commit().ok());
    refs.insert(refs.end(), (*staged)->refs().begin(), (*staged)->refs().end());
  }
  const Manifest manifest = ManifestOf(4, 100, refs);
  const auto name = clients[0]->WriteManifest(manifest, {}, {.keep_last = 2}, 0);
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_EQ(*name, "4-100-node-a_0");
  // Repeating a WriteManifest is harmless.
  EXPECT_EQ(clients[0]->WriteManifest(manifest, {}, {.keep_last = 2}, 0).value(), *name);

  const auto newest = clients[1]->FindNewest(/*verify=*/true);
  ASSERT_TRUE(newest.ok() && newest->found) << newest.status();
  EXPECT_EQ(newest->name, *name);
  EXPECT_EQ(newest->highest_generation, 4);
  EXPECT_EQ(newest->manifest.scalars, R"({"cursor":128})");
  TestState restored(kTotal);
  const auto got = clients[2]->Restore(5, *name, restored.writable());
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->manifest.step, 100);
  EXPECT_THAT(got->bytes_from, ::testing::ElementsAre(::testing::Key("memory")));
  EXPECT_TRUE(restored == state_);
  EXPECT_EQ(clients[0]->GetInfo()->staged_bytes, 0);
  const auto held = service_.Segments();
  // The service keeps segments after the save: some hold shards in memory for the next restore, others are idle.
  EXPECT_GE(held.size(), 6u);

  const auto listed = service_.OpenStore().List("job-1");
  ASSERT_THAT(*listed, SizeIs(1));
  EXPECT_EQ((*listed)[0].problem, "");
  EXPECT_TRUE(service_.OpenStore().Verify("job-1", *name).ok());
}

TEST_F(ServiceTest, SeveralThreadsCopyOneSnapshot) {
  const auto client = service_.Client();
  auto staged = client->Stage({1, 10, kTotal}, CutShards(kTotal, 3));
  ASSERT_TRUE(staged.ok()) << staged.status();
  EXPECT_TRUE(absl::IsFailedPrecondition((*staged)->Commit()));
  TestState live = state_;
  std::atomic<int> copied = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { copied += (*staged)->Copy(live.view()).ok() ? 1 : 0; });
  }
  threads.clear();
  EXPECT_EQ(copied, 4);
  // After Copy() the live state is not read any more, so it may change.
  live = TestState::Random(kTotal, 99);
  ASSERT_TRUE((*staged)->Commit().ok());
  const auto name = client->WriteManifest(ManifestOf(1, 10, (*staged)->refs()), {}, {.keep_last = 2}, 0);
  ASSERT_TRUE(name.ok()) << name.status();
  TestState restored(kTotal);
  ASSERT_TRUE(client->Restore(2, *name, restored.writable()).ok());
  EXPECT_TRUE(restored == state_);
}

TEST_F(ServiceTest, ArchivesBehindTheCommitAndNamesTheArchiveWhereNothingIsLeft) {
  const std::string cold = "file://" + service_.dir() + "/cold";
  const auto client = CheckpointClient::Create({.socket = service_.socket(),
                                                .store = service_.store(),
                                                .archive_store = cold,
                                                .job_uid = "job-1",
                                                .trainer = "node-a/0",
                                                .allow_nonfinite = true})
                          .value();
  EXPECT_FALSE(client->FindNewest(/*verify=*/false)->found);
  auto staged = client->Stage({1, 10, kTotal}, CutShards(kTotal, 1));
  ASSERT_TRUE(staged.ok() && (*staged)->Copy(state_.view()).ok() && (*staged)->Commit().ok());
  const Retention at_once{.keep_last = 1, .archive_store = cold, .archive_seconds = 0};
  ASSERT_TRUE(client->WriteManifest(ManifestOf(1, 10, (*staged)->refs()), {}, at_once, 0).ok());
  Store hot = service_.OpenStore();
  ASSERT_TRUE(Eventually([&] { return hot.List("job-1")->empty(); }));
  EXPECT_TRUE(Store(*common::PosixFileSystem(), service_.dir() + "/cold").Verify("job-1", "1-10-node-a_0").ok());
  // The service is killed, so that it forgets the checkpoint, which it could otherwise restore from its memory.
  service_.Kill(SIGKILL);
  service_.Start();
  const absl::Status nothing = client->FindNewest(/*verify=*/false).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(nothing)) << nothing;
  EXPECT_THAT(std::string(nothing.message()), HasSubstr("archive job-1 1-10-node-a_0 --restore"));
}

TEST_F(ServiceTest, KeepsTheLastAndNamesWhatItSkips) {
  auto client = service_.Client();
  for (int step : {10, 20, 30, 40}) {
    ASSERT_TRUE(SaveAll(*client, 1, step, TestState::Random(kTotal, step), 2).ok());
  }
  const std::string folder = service_.dir() + "/store/job-1/";
  const auto shards = [&] { return std::distance(std::filesystem::directory_iterator(folder + "shards"), {}); };
  // The shards of dropped checkpoints are collected in the background after the commits.
  ASSERT_TRUE(Eventually([&] { return shards() == 4; }));
  EXPECT_THAT(*service_.OpenStore().List("job-1"), SizeIs(2));

  // The service is killed, so that it forgets the checkpoint of step 40, which it could otherwise restore from its
  // memory.
  service_.Kill(SIGKILL);
  service_.Start();
  std::filesystem::resize_file(folder + "manifests/1-40-node-a_0.json", 50);
  const auto newest = client->FindNewest(/*verify=*/true);
  ASSERT_TRUE(newest.ok() && newest->found);
  EXPECT_EQ(newest->name, "1-30-node-a_0");
  ASSERT_THAT(newest->skipped, SizeIs(1));
  EXPECT_THAT(newest->skipped[0], HasSubstr("1-40-node-a_0: manifest: truncated"));
  TestState restored(kTotal);
  EXPECT_FALSE(client->Restore(2, "1-40-node-a_0", restored.writable()).ok());
  ASSERT_TRUE(client->Restore(2, newest->name, restored.writable()).ok());
  EXPECT_TRUE(restored == TestState::Random(kTotal, 30));
}

TEST_F(ServiceTest, NanAndInfinityAreNotSavedUnlessAllowed) {
  auto careful = CheckpointClient::Create(
      {.socket = service_.socket(), .store = service_.store(), .job_uid = "job-1", .trainer = "t"});
  TestState state(kTotal);
  ASSERT_TRUE(SaveAll(**careful, 1, 10, state).ok());
  state.first_moment[12345] = std::numeric_limits<float>::infinity();
  const auto refused = SaveAll(**careful, 1, 20, state);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status())) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("1 values that are NaN or infinite"));
  EXPECT_EQ((*careful)->FindNewest(/*verify=*/true)->manifest.step, 10);
  EXPECT_TRUE(SaveAll(*service_.Client(), 1, 30, state).ok());
}

TEST_F(ServiceTest, PlaneZeroAloneIsHalfTheBytesAndNotForExactJobs) {
  TestState state(kTotal);
  for (int64_t i = 0; i < kTotal; ++i) state.weights[static_cast<size_t>(i)] = 0.1f * static_cast<float>(i % 1000);
  auto client = service_.Client();
  ASSERT_TRUE(SaveAll(*client, 1, 10, state).ok());
  auto staged = client->Stage({1, 20, kTotal, Precision::kFp16}, CutShards(kTotal, 1));
  ASSERT_TRUE((*staged)->Copy(state.view()).ok() && (*staged)->Commit().ok());
  int64_t bytes = 0;
  for (const ShardRef& ref : (*staged)->refs()) bytes += ref.bytes;
  EXPECT_LE(static_cast<double>(bytes), 0.51 * 12 * kTotal);
  ASSERT_TRUE(client->WriteManifest(ManifestOf(1, 20, (*staged)->refs()), {}, {}, 0).ok());

  const auto newest = client->FindNewest(/*verify=*/false);
  EXPECT_EQ(newest->manifest.step, 20);
  TestState restored(kTotal);
  const auto got = client->Restore(2, newest->name, restored.writable());
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_FALSE(got->exact);
  for (int64_t i = 0; i < kTotal; ++i) {
    const auto at = static_cast<size_t>(i);
    ASSERT_NEAR(restored.weights[at], state.weights[at], 1e-3 * std::abs(state.weights[at])) << i;
  }
  const auto exact = CheckpointClient::Create(
      {.socket = service_.socket(), .store = service_.store(), .job_uid = "job-1", .trainer = "t", .exact_only = true});
  EXPECT_EQ((*exact)->FindNewest(/*verify=*/false)->manifest.step, 10);
}

TEST_F(ServiceTest, DroppedShardsGiveTheirMemoryBack) {
  auto client = service_.Client();
  {
    auto staged = client->Stage({1, 10, kTotal}, CutShards(kTotal, 1));
    ASSERT_TRUE(staged.ok());
    EXPECT_THAT(service_.Segments(), SizeIs(2));
  }
  EXPECT_EQ(client->GetInfo()->staged_bytes, 0);
  const auto idle = service_.Segments();
  auto again = client->Stage({1, 10, kTotal}, CutShards(kTotal, 1));
  ASSERT_TRUE(again.ok());
  // The second save gets the shared memory that the first save has left idle.
  EXPECT_THAT(service_.Segments(), ::testing::UnorderedElementsAreArray(idle));
}

TEST(ServiceLimitTest, MoreThanTheLimitIsRefusedAndTheServiceLives) {
  ServiceProcess service("5MiB");
  service.Start();
  auto client = service.Client();
  // The state takes nearly 4 MiB, so only one copy of it is within the limit of 5 MiB.
  auto first = client->Stage({1, 10, kTotal}, CutShards(kTotal, 1));
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = client->Stage({1, 10, kTotal}, CutShards(kTotal, 1));
  EXPECT_TRUE(absl::IsResourceExhausted(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("--memory-limit"));
  first->reset();
  EXPECT_TRUE(client->Stage({1, 10, kTotal}, CutShards(kTotal, 1)).ok());
}

TEST_F(ServiceTest, TheCommitterWaitsForTheShardsOfOthers) {
  auto committer = service_.Client("a");
  auto other = service_.Client("b");
  const auto shards = CutShards(kTotal, 2);
  const auto commit = [&](CheckpointClient& client, int rank) {
    auto staged = client.Stage({1, 10, kTotal}, ShardsOf(shards, rank));
    EXPECT_TRUE((*staged)->Copy(state_.view()).ok() && (*staged)->Commit().ok());
    return (*staged)->refs();
  };
  std::vector<ShardRef> refs = commit(*committer, 0);
  const auto elsewhere = service_.Client("b", "file://" + service_.dir() + "/elsewhere");
  // Equal content has equal names, so a manifest can name shards that only another store has.
  const std::vector<ShardRef> theirs = commit(*elsewhere, 1);
  refs.insert(refs.end(), theirs.begin(), theirs.end());
  const auto missing = committer->WriteManifest(ManifestOf(1, 10, refs), {}, {}, 0);
  EXPECT_TRUE(absl::IsNotFound(missing.status())) << missing.status();
  std::jthread late([&] { commit(*other, 1); });
  EXPECT_TRUE(committer->WriteManifest(ManifestOf(1, 10, refs), {}, {}, 10).ok());
}

TEST_F(ServiceTest, CancelEndsAWaitingCall) {
  auto client = service_.Client();
  const std::string nowhere(32, 'a');
  const ShardRef missing{.name = nowhere + ".safetensors", .bytes = 100, .xxh3 = nowhere, .generation = 1, .count = 1};
  std::jthread cancel([&] { client->Cancel(); });
  const auto name = client->WriteManifest(ManifestOf(1, 10, {missing}), {}, {}, 60);
  EXPECT_TRUE(absl::IsCancelled(name.status())) << name.status();
  EXPECT_TRUE(absl::IsCancelled(client->GetInfo().status()));
}

TEST_F(ServiceTest, AnOlderGenerationIsRefused) {
  auto client = service_.Client();
  ASSERT_TRUE(SaveAll(*client, 5, 50, state_).ok());
  auto zombie = service_.Client("zombie");
  const auto late = SaveAll(*zombie, 4, 90, TestState::Random(kTotal, 2));
  EXPECT_TRUE(absl::IsFailedPrecondition(late.status())) << late.status();
  EXPECT_EQ(client->FindNewest(/*verify=*/true)->manifest.step, 50);
  // A newer generation stops older ones from saving even if it has not saved anything yet.
  TestState restored(kTotal);
  ASSERT_TRUE(client->Restore(7, "5-50-node-a_0", restored.writable()).ok());
  const auto later = SaveAll(*zombie, 6, 90, TestState::Random(kTotal, 2));
  EXPECT_TRUE(absl::IsFailedPrecondition(later.status())) << later.status();
  EXPECT_TRUE(absl::IsFailedPrecondition(zombie->Restore(6, "5-50-node-a_0", restored.writable()).status()));
  ASSERT_TRUE(SaveAll(*client, 7, 60, state_).ok());
}

TEST_F(ServiceTest, TheJobsFileIsThereBeforeTheFirstManifestAndReplacedAtItsEnd) {
  auto client = service_.Client();
  const auto refused = SaveAll(*client, 5, 50, state_, 0, {.required = true});
  EXPECT_TRUE(absl::IsAborted(refused.status())) << refused.status();
  EXPECT_THAT(*service_.OpenStore().ListNames("job-1"), SizeIs(0));
  EXPECT_TRUE(absl::IsInvalidArgument(SaveAll(*client, 5, 50, state_, 0, {.text = "no file"}).status()));
  ASSERT_TRUE(SaveAll(*client, 5, 50, state_, 0, {.text = JobFileOf("job-1"), .required = true}).ok());
  EXPECT_EQ(service_.OpenStore().ReadJobFile("job-1").value(), InnerOf("job-1"));
  ASSERT_TRUE(SaveAll(*client, 5, 60, state_, 0, {.required = true}).ok()) << "an old one will do";
  const std::string end = JobFileOf("job-1", R"("over":true)");
  EXPECT_TRUE(absl::IsFailedPrecondition(client->WriteJobFile(4, end, 30)));
  EXPECT_EQ(service_.OpenStore().ReadJobFile("job-1").value(), InnerOf("job-1"));
  ASSERT_TRUE(client->WriteJobFile(5, end, 30).ok());
  EXPECT_EQ(service_.OpenStore().ReadJobFile("job-1").value(), InnerOf("job-1", R"("over":true)"));
}

TEST_F(ServiceTest, TheJobsFileIsReadWithTheHighestGenerationThatTheStoreKnowsOf) {
  const auto channel = common::Connect("unix:" + service_.socket(), {.security = {}});
  ASSERT_TRUE(channel.ok()) << channel.status();
  const auto stub = v1::Checkpoints::NewStub(*channel);
  const auto read = [&](const std::string& uid, v1::ReadJobFileReply* reply) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    v1::ReadJobFileRequest request;
    request.set_store(service_.store());
    request.set_job_uid(uid);
    return stub->ReadJobFile(&context, request, reply).error_code();
  };
  v1::ReadJobFileReply reply;
  EXPECT_EQ(read("job-1", &reply), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(read("../job-1", &reply), grpc::StatusCode::INVALID_ARGUMENT);
  ASSERT_TRUE(SaveAll(*service_.Client(), 5, 50, state_, 0, {.text = JobFileOf("job-1"), .required = true}).ok());
  ASSERT_EQ(read("job-1", &reply), grpc::StatusCode::OK);
  EXPECT_EQ(reply.job_file(), JobFileOf("job-1"));
  EXPECT_EQ(reply.generation(), 5);
  ASSERT_TRUE(service_.OpenStore().BeginGeneration("job-1", 7).ok());
  ASSERT_EQ(read("job-1", &reply), grpc::StatusCode::OK);
  EXPECT_EQ(reply.generation(), 7);
}

TEST_F(ServiceTest, BadStoresAndArgumentsAreNamed) {
  auto ftp = service_.Client("t", "ftp://host/folder");
  const auto unsupported = ftp->Stage({1, 10, kTotal}, CutShards(kTotal, 1));
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

}  // namespace
}  // namespace rekindle::checkpoint
