// Injects crashes and errors between any two file operations of saving and of collecting checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "checkpoint/store/store.h"
#include "checkpoint/testing/testing.h"
#include "common/testing/fault_file.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kTotal = 10;
// With seed 0 a crash drops everything that was not synced. With the other seeds random parts are kept.
constexpr uint64_t kCrashSeeds = kThinned ? 4 : 24;

TestState StateAt(int step) { return TestState::Random(kTotal, static_cast<uint64_t>(step)); }

// Saves one checkpoint and then runs a collection, as the committer of a checkpoint does. Returns true if PutManifest
// said that the checkpoint is durable.
bool SaveAndCollect(common::FaultFileSystem& fs, int step) {
  Store store(fs, "/deep/store", /*grace_seconds=*/0);
  if (!Save(store, "job", 1, step, StateAt(step)).ok()) return false;
  store.Collect("job", {.keep_last = 1}, fs.now() + 1).IgnoreError();
  return true;
}

// Checks that a whole checkpoint is found after a fault, with the content of its step. The checkpoint of the step
// `at_least` was durable before.
void ExpectRestorable(common::FaultFileSystem& fs, int at_least, const std::string& what) {
  Store store(fs, "/deep/store");
  const auto newest = store.FindNewest("job");
  ASSERT_TRUE(newest.ok() && newest->found) << what;
  ASSERT_GE(newest->manifest.step, at_least) << what;
  const auto state = Load(store, newest->manifest, kTotal);
  ASSERT_TRUE(state.ok()) << what;
  ASSERT_TRUE(*state == StateAt(newest->manifest.step)) << what;
  // A manifest never outlives its shards. So every checkpoint that is listed must be whole, even after the fault.
  const auto listed = store.List("job");
  for (const StoredCheckpoint& checkpoint : *listed) ASSERT_EQ(checkpoint.problem, "") << what;
}

// Checks that saving works again after a fault and that nothing is left over.
void ExpectHeals(common::FaultFileSystem& fs, const std::string& what) {
  fs.Advance(10);
  ASSERT_TRUE(SaveAndCollect(fs, 90)) << what;
  ExpectRestorable(fs, 90, what);
  ASSERT_THAT(fs.Files(), SizeIs(5)) << what;
}

void ExpectFound(Store& store, const std::string& name) {
  const auto newest = store.FindNewest("job");
  ASSERT_TRUE(newest.ok());
  EXPECT_EQ(newest->name, name);
}

class StoreCrashTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(SaveAndCollect(base_, 10));
    const auto dry = base_.Clone();
    ASSERT_TRUE(SaveAndCollect(*dry, 20));
    operations_ = dry->operations();
    ASSERT_GT(operations_.size(), 30u);
  }

  // The checkpoint of step 10 is durable. The fault happens while that of step 20 is being saved.
  common::FaultFileSystem base_;
  std::vector<std::string> operations_;
};

TEST_F(StoreCrashTest, PowerLossBetweenAnyTwoOperations) {
  for (size_t at = 0; at <= operations_.size(); ++at) {
    const std::string before = at < operations_.size() ? operations_[at] : "the end";
    for (uint64_t seed = 0; seed < kCrashSeeds; ++seed) {
      const std::string what =
          "power lost before operation " + std::to_string(at) + ", " + before + ", seed " + std::to_string(seed);
      const auto fs = base_.Clone();
      fs->FailAt(static_cast<int64_t>(at), absl::InternalError("lost"), /*for_ever=*/true);
      const bool durable = SaveAndCollect(*fs, 20);
      fs->Crash(seed);
      ASSERT_NO_FATAL_FAILURE(ExpectRestorable(*fs, durable ? 20 : 10, what));
      ASSERT_NO_FATAL_FAILURE(ExpectHeals(*fs, what));
    }
  }
}

TEST_F(StoreCrashTest, ProcessKilledBetweenAnyTwoOperations) {
  for (size_t at = 0; at < operations_.size(); ++at) {
    const std::string what = "killed before " + operations_[at];
    const auto fs = base_.Clone();
    fs->FailAt(static_cast<int64_t>(at), absl::InternalError("killed"), /*for_ever=*/true);
    const bool durable = SaveAndCollect(*fs, 20);
    // Only the process was killed and not the machine, so everything that was written is there.
    fs->Heal();
    ASSERT_NO_FATAL_FAILURE(ExpectRestorable(*fs, durable ? 20 : 10, what));
    // The next process repeats the save. The process must not trust files that it finds unless they are durable.
    ASSERT_TRUE(SaveAndCollect(*fs, 20)) << what;
    fs->Crash(0);
    ASSERT_NO_FATAL_FAILURE(ExpectRestorable(*fs, 20, what));
    ASSERT_NO_FATAL_FAILURE(ExpectHeals(*fs, what));
  }
}

TEST_F(StoreCrashTest, EveryOperationFailsOnceWithEachError) {
  for (const absl::Status& error :
       {absl::ResourceExhaustedError("No space left on device"), absl::PermissionDeniedError("Read-only file system"),
        absl::InternalError("Input/output error")}) {
    for (size_t at = 0; at < operations_.size(); ++at) {
      const std::string what = operations_[at] + " failed with " + error.ToString();
      const auto fs = base_.Clone();
      fs->FailAt(static_cast<int64_t>(at), error, /*for_ever=*/false);
      const bool durable = SaveAndCollect(*fs, 20);
      for (const char* must_tell : {"create ", "append ", "sync ", "close ", "rename "}) {
        // `saves` says that the failed operation belongs to the save and not to the collection after it.
        const bool saves = operations_[at].find("/removed/") == std::string::npos &&
                           operations_[at].find("/condemned/") == std::string::npos;
        ASSERT_FALSE(durable && saves && operations_[at].rfind(must_tell, 0) == 0) << what;
      }
      ASSERT_NO_FATAL_FAILURE(ExpectRestorable(*fs, durable ? 20 : 10, what));
      const auto after_power_loss = fs->Clone();
      after_power_loss->Crash(at + 1);
      ASSERT_NO_FATAL_FAILURE(ExpectRestorable(*after_power_loss, durable ? 20 : 10, what));
      // The error did not kill the process, so the process attempts the save again, which must succeed.
      ASSERT_TRUE(SaveAndCollect(*fs, 20)) << what;
      ASSERT_NO_FATAL_FAILURE(ExpectHeals(*fs, what));
    }
  }
}

TEST_F(StoreCrashTest, EveryOperationFailsForEverAndTheErrorIsTold) {
  for (size_t at = 0; at < operations_.size(); ++at) {
    const auto fs = base_.Clone();
    fs->FailAt(static_cast<int64_t>(at), absl::ResourceExhaustedError("No space left on device"), /*for_ever=*/true);
    Store store(*fs, "/deep/store", 0);
    const auto saved = Save(store, "job", 1, 20, StateAt(20));
    if (!saved.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(saved.status())) << operations_[at] << ": " << saved.status();
    }
  }
}

// A process that renamed its shards died before it synced their folder. Another process commits these shards.
TEST_F(StoreCrashTest, AManifestMakesTheNamesOfItsShardsDurable) {
  common::FaultFileSystem fs;
  Store store(fs, "/store");
  ASSERT_TRUE(Save(store, "job", 1, 5, StateAt(5)).ok());
  common::FaultFileSystem other;
  Store elsewhere(other, "/store");
  const auto manifest = PutShards(elsewhere, "job", 1, 10, StateAt(10), 2);
  for (const ShardRef& ref : manifest->shards) {
    const std::string content = other.Get("/store/job/shards/" + ref.name);
    auto file = fs.Create("/store/job/shards/" + ref.name).value();
    ASSERT_TRUE(file->Append(content.data(), content.size()).ok() && file->Sync().ok() && file->Close().ok());
  }
  ASSERT_TRUE(store.PutManifest(*manifest).ok());
  fs.Crash(0);
  ExpectFound(store, "1-10-w0");
}

// Two processes use one folder at once. One collects shards while the other saves the same shards again.
TEST_F(StoreCrashTest, CollectionBesideAWriter) {
  class Interleaved : public common::FaultFileSystem {
   public:
    std::function<void()> at_list;
    absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
      auto names = FaultFileSystem::List(path);
      if (at_list) std::exchange(at_list, nullptr)();
      return names;
    }
  } fs;
  Store store(fs, "/deep/store", /*grace_seconds=*/1000);
  ASSERT_TRUE(Save(store, "job", 1, 10, StateAt(10)).ok());
  ASSERT_TRUE(Save(store, "job", 1, 20, StateAt(20)).ok());
  // While step 10 is being collected, another process saves the state of step 10 again as step 30.
  absl::StatusOr<Manifest> again = absl::UnknownError("not run");
  fs.at_list = [&] { again = PutShards(store, "job", 2, 30, StateAt(10), 2); };
  ASSERT_TRUE(store.Collect("job", {.keep_last = 1}, fs.now()).ok());
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_TRUE(store.PutManifest(*again).ok());
  const auto newest = store.FindNewest("job");
  EXPECT_EQ(newest->name, "2-30-w0");
  EXPECT_THAT(newest->skipped, IsEmpty());
}

// A collector is held before each of its operations while a writer saves exactly the shards that the collector is about
// to remove. The collector then continues as if no time had passed, as a frozen process may.
TEST_F(StoreCrashTest, ACollectorThatFreezesTakesNothingThatIsDurable) {
  class Held : public common::FaultFileSystem {
   public:
    int64_t hold_at = -1;
    std::function<void()> meanwhile;
    absl::Status Remove(const std::string& path) override {
      if (hold_at-- == 0) std::exchange(meanwhile, nullptr)();
      return FaultFileSystem::Remove(path);
    }
    absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
      if (hold_at-- == 0) std::exchange(meanwhile, nullptr)();
      return FaultFileSystem::List(path);
    }
    absl::StatusOr<common::FileInfo> Stat(const std::string& path) override {
      if (hold_at-- == 0) std::exchange(meanwhile, nullptr)();
      return FaultFileSystem::Stat(path);
    }
  };
  int refused = 0;
  for (int64_t at = 0;; ++at) {
    Held fs;
    Store store(fs, "/deep/store", /*grace_seconds=*/0);
    ASSERT_TRUE(Save(store, "job", 1, 10, StateAt(10)).ok());
    ASSERT_TRUE(Save(store, "job", 1, 20, StateAt(20)).ok());
    absl::StatusOr<std::string> again = absl::UnknownError("not run");
    fs.meanwhile = [&] { again = Save(store, "job", 2, 30, StateAt(10)); };
    fs.hold_at = at;
    store.Collect("job", {.keep_last = 1}, fs.now() + 1).IgnoreError();
    // The loop ends when the collection has fewer operations than `at`, so that the save did not run.
    if (fs.meanwhile != nullptr) break;
    fs.hold_at = -1;
    ASSERT_TRUE(again.ok() || absl::IsAborted(again.status()) || absl::IsNotFound(again.status()))
        << at << again.status();
    refused += again.ok() ? 0 : 1;
    const auto newest = store.FindNewest("job");
    ASSERT_EQ(newest->name, again.ok() ? "2-30-w0" : "1-20-w0") << at;
    ASSERT_THAT(newest->skipped, IsEmpty()) << at;
    ASSERT_TRUE(Save(store, "job", 2, 40, StateAt(40)).ok()) << at;
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace rekindle::checkpoint
