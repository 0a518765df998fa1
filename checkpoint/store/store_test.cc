// Checks saving, finding, listing and collecting checkpoints on a file system in memory.
#include "checkpoint/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/testing/testing.h"
#include "common/testing/fault_file.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kTotal = 10;
constexpr double kGrace = 100;

class StoreTest : public ::testing::Test {
 protected:
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const auto listed = store_.List("job");
    for (const StoredCheckpoint& checkpoint : *listed) names.push_back(checkpoint.name);
    return names;
  }
  int CountShards() {
    const auto files = fs_.Files();
    return static_cast<int>(std::count_if(files.begin(), files.end(), [](const std::string& file) {
      return file.find("/shards/") != std::string::npos;
    }));
  }
  TestState State(int step) { return TestState::Random(kTotal, static_cast<uint64_t>(step)); }
  void SaveSteps(int generation, std::initializer_list<int> steps) {
    for (int step : steps) ASSERT_TRUE(Save(store_, "job", generation, step, State(step)).ok());
  }

  common::FaultFileSystem fs_;
  Store store_{fs_, "/data/store", kGrace};
};

TEST_F(StoreTest, EmptyStoreHasNothing) {
  const auto newest = store_.FindNewest("job");
  ASSERT_TRUE(newest.ok());
  EXPECT_FALSE(newest->found);
  EXPECT_EQ(newest->highest_generation, 0);
  EXPECT_THAT(*store_.List("job"), IsEmpty());
  EXPECT_THAT(*store_.ListJobs(), IsEmpty());
  EXPECT_TRUE(store_.Collect("job", {.keep_last = 1}, fs_.now()).ok());
}

TEST_F(StoreTest, SavesFindsAndReads) {
  SaveSteps(1, {10, 20});
  const auto newest = store_.FindNewest("job");
  ASSERT_TRUE(newest.ok() && newest->found);
  EXPECT_EQ(newest->name, "1-20-w0");
  EXPECT_THAT(newest->skipped, IsEmpty());
  EXPECT_TRUE(Load(store_, newest->manifest, kTotal).value() == State(20));
  EXPECT_THAT(*store_.ListJobs(), ElementsAre("job"));
  std::vector<int64_t> progress;
  EXPECT_TRUE(
      store_.Verify("job", "1-10-w0", [&](int64_t done, int64_t total) { progress.push_back(100 * done / total); })
          .ok());
  EXPECT_THAT(progress, ElementsAre(24, 50, 74, 100));
  EXPECT_TRUE(absl::IsNotFound(store_.Verify("job", "1-30-w0")));
}

TEST_F(StoreTest, NewestIsTheHighestGenerationThenStep) {
  SaveSteps(2, {100, 90});
  SaveSteps(10, {20, 9});
  EXPECT_EQ(store_.FindNewest("job")->name, "10-20-w0");
  EXPECT_THAT(Names(), ElementsAre("10-20-w0", "10-9-w0", "2-100-w0", "2-90-w0"));
}

TEST_F(StoreTest, AnOlderGenerationCanNeitherHideNorUndoANewerOne) {
  SaveSteps(3, {100});
  // The job was rolled back, so generation 4 saves at an earlier step than generation 3 did.
  SaveSteps(4, {50});
  const auto late = Save(store_, "job", 3, 110, State(110));
  EXPECT_TRUE(absl::IsFailedPrecondition(late.status())) << late.status();
  EXPECT_THAT(std::string(late.status().message()), AllOf(HasSubstr("generation 3"), HasSubstr("4-50-w0")));
  // A rank of generation 3 may have passed the check for newer generations, and write its manifest only after
  // generation 4 has saved. The test puts such a late manifest into the store. The late manifest must not hide the
  // checkpoint of generation 4.
  const auto zombie = PutShards(store_, "job", 3, 110, State(110), 2);
  fs_.Put("/data/store/job/manifests/3-110-w0.json", EncodeManifest(*zombie));
  EXPECT_EQ(store_.FindNewest("job")->name, "4-50-w0");
  // A collection that keeps only the newest checkpoint must keep that of generation 4, although the late manifest of
  // generation 3 has a higher step.
  ASSERT_TRUE(store_.Collect("job", {.keep_last = 1}, fs_.now()).ok());
  EXPECT_EQ(store_.FindNewest("job")->name, "4-50-w0");
}

TEST_F(StoreTest, ManifestNeedsEveryShard) {
  auto manifest = PutShards(store_, "job", 1, 10, State(10), 3);
  ASSERT_TRUE(manifest.ok());
  const std::string path = "/data/store/job/shards/" + manifest->shards[3].name;
  const std::string content = fs_.Get(path);
  fs_.Put(path, content + "x");
  EXPECT_TRUE(absl::IsDataLoss(store_.PutManifest(*manifest).status()));
  fs_.Erase(path);
  const auto missing = store_.PutManifest(*manifest).status();
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_THAT(std::string(missing.message()), HasSubstr("plane 1 of shard 1 of 3"));
  EXPECT_THAT(Names(), IsEmpty());
  fs_.Put(path, content);
  EXPECT_TRUE(store_.PutManifest(*manifest).ok());
}

TEST_F(StoreTest, EqualShardsAreStoredOnceAndDamagedOnesReplaced) {
  SaveSteps(1, {10});
  const int shards = CountShards();
  ASSERT_TRUE(Save(store_, "job", 2, 10, State(10)).ok());
  EXPECT_EQ(CountShards(), shards);
  const auto manifest = store_.ReadManifest("job", "1-10-w0");
  const std::string path = "/data/store/job/shards/" + manifest->shards[0].name;
  std::string damaged = fs_.Get(path);
  damaged.back() ^= 1;
  fs_.Put(path, damaged);
  EXPECT_FALSE(store_.FindNewest("job")->found);
  ASSERT_TRUE(Save(store_, "job", 3, 10, State(10)).ok());
  EXPECT_EQ(store_.FindNewest("job")->name, "3-10-w0");
}

TEST_F(StoreTest, NothingLeavesTheRoot) {
  const ShardContent source = ContentOf({1, 2, 3});
  const std::string hash(32, 'a');
  for (const char* job : {"..", "a/b", "", ".x", "/etc"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(store_.PutShard(job, source, 3, hash).status())) << job;
    EXPECT_TRUE(absl::IsInvalidArgument(store_.FindNewest(job).status())) << job;
    EXPECT_TRUE(absl::IsInvalidArgument(store_.Collect(job, {.keep_last = 1}, 0).status())) << job;
  }
  for (const std::string& bad : {std::string("../../etc/passwd"), std::string(32, 'A'), std::string(31, 'a')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(store_.PutShard("job", source, 3, bad).status())) << bad;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(store_.PutShard("job", source, kMaxShardBytes + 1, hash).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(store_.ReadManifest("job", "../../1-1-w").status()));
  EXPECT_THAT(fs_.Files(), IsEmpty());
}

TEST_F(StoreTest, AShardThatChangesWhileItIsWrittenGetsNoName) {
  const ShardContent source = ContentOf({1, 2, 3});
  const auto torn = store_.PutShard("job", source, 3, std::string(32, 'a'));
  EXPECT_TRUE(absl::IsDataLoss(torn.status())) << torn.status();
  EXPECT_THAT(fs_.Files(), IsEmpty());
}

TEST_F(StoreTest, AStoreThatCannotBeReadIsAnErrorNotEmpty) {
  SaveSteps(1, {10});
  fs_.FailAt(0, absl::InternalError("I/O error"), /*for_ever=*/true);
  EXPECT_TRUE(absl::IsInternal(store_.FindNewest("job").status()));
  EXPECT_TRUE(absl::IsInternal(store_.Collect("job", {.keep_last = 1}, fs_.now()).status()));
  fs_.Heal();
  EXPECT_TRUE(store_.FindNewest("job")->found);
}

TEST_F(StoreTest, ForeignFilesAreNamedAndLeftAlone) {
  SaveSteps(1, {10, 20});
  fs_.Put("/data/store/job/manifests/notes.txt", "mine");
  fs_.Put("/data/store/job/shards/README", "mine");
  EXPECT_THAT(store_.FindNewest("job")->skipped, ElementsAre("notes.txt: not named as a checkpoint"));
  fs_.Advance(10 * kGrace);
  ASSERT_TRUE(store_.Collect("job", {.keep_last = 1}, fs_.now()).ok());
  EXPECT_EQ(fs_.Get("/data/store/job/manifests/notes.txt"), "mine");
  EXPECT_EQ(fs_.Get("/data/store/job/shards/README"), "mine");
}

TEST_F(StoreTest, CollectKeepsTheLast) {
  SaveSteps(1, {10, 20, 30, 40});
  // The checkpoint of step 50 has the same shards as that of step 20, so the shards must stay when step 20 is
  // collected.
  ASSERT_TRUE(Save(store_, "job", 1, 50, State(20)).ok());
  const auto collected = store_.Collect("job", {.keep_last = 2}, fs_.now());
  ASSERT_TRUE(collected.ok());
  EXPECT_THAT(collected->manifests, ElementsAre("1-30-w0", "1-20-w0", "1-10-w0"));
  EXPECT_EQ(collected->shards, 8);
  EXPECT_THAT(Names(), ElementsAre("1-50-w0", "1-40-w0"));
  EXPECT_EQ(CountShards(), 8);
  EXPECT_TRUE(store_.Verify("job", "1-50-w0").ok());
  EXPECT_TRUE(store_.Verify("job", "1-40-w0").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(store_.Collect("job", {.keep_last = -1}, fs_.now()).status()));
}

TEST_F(StoreTest, BrokenOnesDoNotCountAsKept) {
  SaveSteps(1, {10, 20, 30});
  const std::string newest = "/data/store/job/manifests/1-30-w0.json";
  fs_.Put(newest, fs_.Get(newest).substr(1));
  ASSERT_TRUE(store_.Collect("job", {.keep_last = 1}, fs_.now()).ok());
  EXPECT_THAT(Names(), ElementsAre("1-30-w0", "1-20-w0"));
  EXPECT_EQ(store_.FindNewest("job")->name, "1-20-w0");
}

TEST_F(StoreTest, WhatIsOnItsWayIsNotCollected) {
  SaveSteps(1, {10, 20});
  // The shards of the checkpoint `coming` are in the store, but no manifest names them yet.
  const auto coming = PutShards(store_, "job", 1, 30, State(30), 2);
  // The shards of the checkpoint `repeated` are those of step 10, whose manifest is about to be removed.
  const auto repeated = PutShards(store_, "job", 2, 40, State(10), 2);
  ASSERT_TRUE(store_.Collect("job", {.keep_last = 1}, fs_.now()).ok());
  EXPECT_THAT(Names(), ElementsAre("1-20-w0"));
  EXPECT_TRUE(store_.PutManifest(*coming).ok());
  EXPECT_TRUE(store_.PutManifest(*repeated).ok());
  EXPECT_TRUE(store_.Verify("job", "2-40-w0").ok());
}

TEST_F(StoreTest, LeftoversGoAfterTheGrace) {
  SaveSteps(1, {10});
  // No manifest names the shards of step 20, so they are left over and are collected after the grace period.
  ASSERT_TRUE(PutShards(store_, "job", 1, 20, State(20), 2).ok());
  ASSERT_TRUE(fs_.Create(common::TemporaryName("/data/store/job/shards/x")).ok());
  ASSERT_TRUE(fs_.Create(common::TemporaryName("/data/store/job/manifests/x")).ok());
  auto collected = store_.Collect("job", {.keep_last = 1}, fs_.now() + kGrace / 2);
  EXPECT_EQ(collected->shards + collected->temporary, 0);
  collected = store_.Collect("job", {.keep_last = 1}, fs_.now() + 2 * kGrace);
  EXPECT_EQ(collected->shards, 4);
  EXPECT_EQ(collected->temporary, 2);
  EXPECT_THAT(fs_.Files(), SizeIs(5));
  EXPECT_TRUE(store_.Verify("job", "1-10-w0").ok());
}

}  // namespace
}  // namespace rekindle::checkpoint
