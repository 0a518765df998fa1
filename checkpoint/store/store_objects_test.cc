// Checks how a store on a bucket differs from one in a folder.
#include "checkpoint/backends/object_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/store/store_opener.h"
#include "checkpoint/testing/testing.h"
#include "common/objects/object_plugin.h"
#include "common/testing/fake_clock.h"
#include "common/testing/fault_file.h"
#include "common/testing/object_testing.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kTotal = 10;
constexpr double kGrace = 100;

class StoreObjectsTest : public ::testing::Test {
 protected:
  // Opens the store of the bucket again, as another process would.
  Store Reopen() {
    return Store(std::make_shared<ObjectBackend>(std::make_shared<common::ObjectStore>(
                     bucket_, "root", common::ObjectStoreOptions{}, clock_.clock())),
                 kGrace);
  }
  static TestState State(int step) { return TestState::Random(kTotal, static_cast<uint64_t>(step)); }
  void SaveSteps(std::initializer_list<int> steps) {
    for (int step : steps) {
      ASSERT_TRUE(Save(store_, "job", 1, step, State(step)).ok());
      bucket_->now += 10;
    }
  }
  int Count(const std::string& ending) {
    int count = 0;
    for (const auto& [key, object] : bucket_->objects) {
      count += key.size() >= ending.size() && key.compare(key.size() - ending.size(), ending.size(), ending) == 0;
    }
    return count;
  }
  int CallsOf(const std::function<void()>& work) {
    const int before = bucket_->calls;
    work();
    return bucket_->calls - before;
  }

  common::FakeClock clock_;
  std::shared_ptr<common::MemoryObjects> bucket_ = std::make_shared<common::MemoryObjects>();
  Store store_ = Reopen();
};

TEST_F(StoreObjectsTest, SavesFindsListsAndReads) {
  EXPECT_FALSE(store_.FindNewest("job")->found);
  EXPECT_THAT(*store_.ListJobs(), IsEmpty());
  SaveSteps({10, 20});
  Store other = Reopen();
  const auto newest = other.FindNewest("job");
  ASSERT_TRUE(newest.ok() && newest->found);
  EXPECT_EQ(newest->name, "1-20-w0");
  EXPECT_TRUE(Load(other, newest->manifest, kTotal).value() == State(20));
  EXPECT_THAT(*other.ListJobs(), ElementsAre("job"));
  const auto listed = other.List("job");
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ(listed->back().problem, "");
  EXPECT_EQ(listed->back().written, 1e9);
  EXPECT_TRUE(other.Verify("job", "1-10-w0").ok());
}

TEST_F(StoreObjectsTest, ShardsThatAreThereAreNotSentAgain) {
  SaveSteps({10});
  const auto sent = [&] { return bucket_->objects.size(); };
  const size_t before = sent();
  ASSERT_TRUE(Save(store_, "job", 2, 10, State(10)).ok());
  EXPECT_EQ(Count(".safetensors"), 4);
  // The second save of the same state sends only a manifest and the markers of its four shards, which were there.
  EXPECT_EQ(sent(), before + 5);
  // Another process reads the shards in full at its first save, to know that they are whole, but not at its second one.
  Store other = Reopen();
  const int first = CallsOf([&] { ASSERT_TRUE(Save(other, "job", 3, 10, State(10)).ok()); });
  const int second = CallsOf([&] { ASSERT_TRUE(Save(other, "job", 4, 10, State(10)).ok()); });
  EXPECT_LT(second, first);
}

TEST_F(StoreObjectsTest, ADamagedShardIsReplaced) {
  SaveSteps({10});
  for (auto& [key, object] : bucket_->objects) {
    if (key.find("/shards/") != std::string::npos) {
      object.content.back() ^= 1;
      object.modified += 1;
    }
  }
  EXPECT_FALSE(store_.FindNewest("job")->found);
  ASSERT_TRUE(Save(store_, "job", 2, 10, State(10)).ok());
  EXPECT_EQ(store_.FindNewest("job")->name, "2-10-w0");
}

TEST_F(StoreObjectsTest, AShardThatChangesWhileItIsSentGetsNoName) {
  const ShardContent source = ContentOf({1, 2, 3});
  EXPECT_TRUE(absl::IsDataLoss(store_.PutShard("job", source, 3, std::string(32, 'a')).status()));
  EXPECT_THAT(bucket_->objects, IsEmpty());
}

TEST_F(StoreObjectsTest, CollectsWithItsMarks) {
  SaveSteps({10});
  ASSERT_TRUE(Save(store_, "job", 2, 10, State(10)).ok());
  bucket_->now += 10;
  SaveSteps({});
  ASSERT_TRUE(Save(store_, "job", 3, 20, State(20)).ok());
  const auto collected = store_.Collect("job", {.keep_last = 1}, bucket_->now);
  ASSERT_TRUE(collected.ok()) << collected.status();
  // The shards' markers are of the same second as the last removed manifest. The collection cannot tell which is newer,
  // so the shards stay until the grace period is over.
  EXPECT_EQ(collected->manifests.size(), 2u);
  EXPECT_EQ(collected->shards, 0);
  bucket_->now += kGrace + 10;
  ASSERT_TRUE(store_.Collect("job", {.keep_last = 1}, bucket_->now).ok());
  EXPECT_EQ(Count(".safetensors"), 4);
  EXPECT_EQ(Count(".used"), 0);
  EXPECT_EQ(store_.FindNewest("job")->name, "3-20-w0");
}

TEST_F(StoreObjectsTest, WhatIsPutAgainDuringACollectionStays) {
  SaveSteps({10, 20});
  const auto again = PutShards(store_, "job", 2, 30, State(10), 2);
  ASSERT_TRUE(store_.Collect("job", {.keep_last = 1}, bucket_->now).ok());
  ASSERT_TRUE(store_.PutManifest(*again).ok());
  EXPECT_EQ(store_.FindNewest("job")->name, "2-30-w0");
  EXPECT_THAT(store_.FindNewest("job")->skipped, IsEmpty());
}

TEST_F(StoreObjectsTest, AMarkThatLostItsShardIsCollected) {
  SaveSteps({10});
  bucket_->objects["root/job/shards/" + std::string(32, 'a') + ".safetensors.used"] = {"used\n", bucket_->now};
  bucket_->now += kGrace + 1;
  const auto collected = store_.Collect("job", {.keep_last = 1}, bucket_->now);
  ASSERT_TRUE(collected.ok());
  EXPECT_EQ(collected->temporary, 1);
  EXPECT_EQ(Count(".used"), 0);
}

TEST_F(StoreObjectsTest, AStoreThatCannotBeReadIsAnErrorNotEmpty) {
  SaveSteps({10});
  bucket_->errors.assign(1000, absl::PermissionDeniedError("403"));
  EXPECT_TRUE(absl::IsPermissionDenied(store_.FindNewest("job").status()));
  EXPECT_TRUE(absl::IsPermissionDenied(store_.Collect("job", {.keep_last = 1}, bucket_->now).status()));
  bucket_->errors.clear();
  EXPECT_TRUE(store_.FindNewest("job")->found);
}

// Every request of a save and a collection fails once with a permanent error. Checkpoints that were durable before can
// still be restored.
TEST_F(StoreObjectsTest, AnyCallMayFail) {
  SaveSteps({10});
  const int calls = CallsOf([&] { SaveSteps({15}); });
  for (int at = 0; at < calls; ++at) {
    bucket_->errors.assign(static_cast<size_t>(at), absl::OkStatus());
    bucket_->errors.push_back(absl::PermissionDeniedError("403"));
    const bool saved = Save(store_, "job", 1, 20 + at, State(20 + at)).ok();
    bucket_->errors.clear();
    const auto newest = store_.FindNewest("job");
    ASSERT_TRUE(newest.ok() && newest->found) << at;
    ASSERT_THAT(newest->skipped, IsEmpty()) << at;
    ASSERT_TRUE(!saved || newest->manifest.step == 20 + at) << at;
    ASSERT_TRUE(Load(store_, newest->manifest, kTotal).value() == State(newest->manifest.step)) << at;
  }
}

TEST(StoreOpenerTest, FoldersAndBuckets) {
  common::FaultFileSystem fs;
  int opened = 0;
  StoreOpener opener(fs, {}, {}, [&](const common::ObjectUri& uri, const common::ObjectStoreOptions& options) {
    ++opened;
    return std::make_shared<common::ObjectStore>(std::make_shared<common::MemoryObjects>(), uri.prefix, options);
  });
  auto folder = opener.Open("file:///store"), bucket = opener.Open("s3://bucket/a");
  ASSERT_TRUE(folder.ok() && bucket.ok());
  ASSERT_TRUE(Save(*folder, "job", 1, 5, TestState::Random(kTotal, 5)).ok());
  ASSERT_TRUE(Save(*bucket, "job", 1, 6, TestState::Random(kTotal, 6)).ok());
  folder = opener.Open("file:///store/");
  bucket = opener.Open("s3://bucket/a");
  EXPECT_EQ(folder->FindNewest("job")->name, "1-5-w0");
  EXPECT_EQ(bucket->FindNewest("job")->name, "1-6-w0");
  EXPECT_EQ(opened, 1);
  EXPECT_TRUE(absl::IsInvalidArgument(opener.Open("ftp://x").status()));
}

TEST(StoreOpenerTest, WithoutThePluginBucketsAreUnimplemented) {
  if (common::LoadObjectPlugin(common::DefaultObjectPluginPath()).ok()) GTEST_SKIP() << "this build has the plugin";
  common::FaultFileSystem fs;
  const auto store = StoreOpener(fs).Open("s3://bucket/a");
  EXPECT_TRUE(absl::IsUnimplemented(store.status()));
  EXPECT_THAT(std::string(store.status().message()), HasSubstr("scripts/bootstrap"));
}

}  // namespace
}  // namespace rekindle::checkpoint
