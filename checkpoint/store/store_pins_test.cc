// Runs processes that pin a checkpoint against collections. In whatever order their operations come, and whichever
// process dies, a pin that was promised keeps a whole checkpoint.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/store/store.h"
#include "checkpoint/testing/interleaved_testing.h"
#include "checkpoint/testing/testing.h"
#include "common/testing/fault_file.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kTotal = 10;
constexpr char kOld[] = "1-10-w0";

class StorePinsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int step : {10, 20, 30}) {
      ASSERT_TRUE(Save(store_, "job", 1, step, TestState::Random(kTotal, static_cast<uint64_t>(step))).ok());
    }
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const auto listed = store_.List("job");
    for (const StoredCheckpoint& checkpoint : *listed) names.push_back(checkpoint.name);
    return names;
  }
  // Checks that a promised pin is there with a whole checkpoint, and that a refused pin has left nothing.
  static void ExpectKept(common::FaultFileSystem& fs, bool promised, const std::string& what) {
    Store store(fs, "/store", 0);
    ASSERT_EQ(store.Pinned("job")->contains(kOld), promised) << what;
    ASSERT_TRUE(!promised || store.Verify("job", kOld).ok()) << what;
    // The next collection changes neither the pin nor the checkpoint, and leaves no half-removed file.
    ASSERT_TRUE(store.Collect("job", {.keep_last = 1}, fs.now() + 10).ok()) << what;
    ASSERT_EQ(store.Verify("job", kOld).ok(), promised) << what;
    for (const std::string& file : fs.Files()) ASSERT_THAT(file, ::testing::Not(HasSubstr("/removed/"))) << what;
  }

  common::FaultFileSystem fs_;
  Store store_{fs_, "/store", 0};
};

TEST_F(StorePinsTest, PinnedOnesAreNeitherCollectedNorArchived) {
  ASSERT_TRUE(store_.PutPin("job", kOld, {.why = "gold", .when = 5}).ok());
  EXPECT_THAT(*store_.Pinned("job"), ElementsAre(kOld));
  EXPECT_EQ(store_.ReadPin("job", kOld)->why, "gold");
  EXPECT_EQ(store_.ReadPin("job", kOld)->when, 5);
  ASSERT_TRUE(store_.Collect("job", {.keep_last = 1}, fs_.now() + 10).ok());
  EXPECT_THAT(Names(), ElementsAre("1-30-w0", kOld));
  EXPECT_TRUE(store_.Verify("job", kOld).ok());
  ASSERT_TRUE(store_.RemovePin("job", kOld).ok());
  ASSERT_TRUE(store_.RemovePin("job", kOld).ok());
  ASSERT_TRUE(store_.Collect("job", {.keep_last = 1}, fs_.now() + 10).ok());
  EXPECT_THAT(Names(), ElementsAre("1-30-w0"));
}

TEST_F(StorePinsTest, OnlyWhatIsWholeCanBePinned) {
  EXPECT_TRUE(absl::IsNotFound(store_.PutPin("job", "1-99-w0", {})));
  EXPECT_TRUE(absl::IsInvalidArgument(store_.PutPin("job", "../../1-99-w0", {})));
  EXPECT_TRUE(absl::IsInvalidArgument(store_.RemovePin("../job", kOld)));
  const auto manifest = store_.ReadManifest("job", kOld);
  fs_.Erase("/store/job/shards/" + manifest->shards[0].name);
  EXPECT_TRUE(absl::IsNotFound(store_.PutPin("job", kOld, {})));
  EXPECT_THAT(*store_.Pinned("job"), IsEmpty());
}

TEST_F(StorePinsTest, ACollectionAtAnyPointOfPinning) {
  for (int at = 0;; ++at) {
    const auto fs = fs_.Clone();
    const auto backend = std::make_shared<Interleaved>(*fs, at, [&] {
      Store other(*fs, "/store", 0);
      ASSERT_TRUE(other.Collect("job", {.keep_last = 1}, fs->now() + 10).ok());
    });
    Store store(backend, 0);
    const bool promised = store.PutPin("job", kOld, {.why = "gold"}).ok();
    ASSERT_NO_FATAL_FAILURE(ExpectKept(*fs, promised, "collected before operation " + std::to_string(at)));
    if (at >= backend->operations()) break;
  }
}

TEST_F(StorePinsTest, PinningAtAnyPointOfACollection) {
  int kept = 0, refused = 0;
  for (int at = 0;; ++at) {
    const auto fs = fs_.Clone();
    bool promised = false;
    const auto backend = std::make_shared<Interleaved>(
        *fs, at, [&] { promised = Store(*fs, "/store", 0).PutPin("job", kOld, {.why = "gold"}).ok(); });
    Store store(backend, 0);
    ASSERT_TRUE(store.Collect("job", {.keep_last = 1}, fs->now() + 10).ok());
    if (at >= backend->operations()) break;
    ++(promised ? kept : refused);
    ASSERT_NO_FATAL_FAILURE(ExpectKept(*fs, promised, "pinned before operation " + std::to_string(at)));
  }
  EXPECT_GT(kept, 5);
  EXPECT_GT(refused, 5);
}

TEST_F(StorePinsTest, PinningAtAnyPointOfACollectionThatDiesAtAnyLaterOne) {
  for (int at = 0; at < 40; at += kThinned ? 7 : 1) {
    for (int dies = 0; dies < 8; ++dies) {
      const auto fs = fs_.Clone();
      bool promised = false;
      const auto backend = std::make_shared<Interleaved>(*fs, at, [&] {
        promised = Store(*fs, "/store", 0).PutPin("job", kOld, {.why = "gold"}).ok();
        fs->FailAt(static_cast<int64_t>(fs->operations().size()) + dies, absl::InternalError("killed"), true);
      });
      Store store(backend, 0);
      store.Collect("job", {.keep_last = 1}, fs->now() + 10).IgnoreError();
      fs->Heal();
      ASSERT_TRUE(Store(*fs, "/store", 0).Collect("job", {.keep_last = 1}, fs->now() + 10).ok());
      ASSERT_NO_FATAL_FAILURE(
          ExpectKept(*fs, promised, "pinned before " + std::to_string(at) + ", died " + std::to_string(dies)));
    }
  }
}

TEST_F(StorePinsTest, RemovesWhatIsNamedAndItsShardsOnly) {
  // The checkpoint of step 40 has the same shards as that of step 10, so the shards must stay when step 10 is removed.
  ASSERT_TRUE(Save(store_, "job", 1, 40, TestState::Random(kTotal, 10)).ok());
  const auto removed = store_.Remove("job", {kOld, "1-20-w0"}, false, fs_.now() + 10);
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_THAT(Names(), ElementsAre("1-40-w0", "1-30-w0"));
  EXPECT_TRUE(store_.Verify("job", "1-40-w0").ok());
  EXPECT_TRUE(store_.Verify("job", "1-30-w0").ok());
  EXPECT_TRUE(absl::IsNotFound(store_.Remove("job", {kOld}, false, fs_.now()).status()));
}

TEST_F(StorePinsTest, RemovesThePinnedAndTheNewestByForceOnly) {
  ASSERT_TRUE(store_.PutPin("job", kOld, {}).ok());
  const auto pinned = store_.Remove("job", {"1-20-w0", kOld}, false, fs_.now() + 10);
  EXPECT_TRUE(absl::IsFailedPrecondition(pinned.status()));
  EXPECT_THAT(std::string(pinned.status().message()), HasSubstr("unpin it first"));
  EXPECT_TRUE(absl::IsFailedPrecondition(store_.Remove("job", {"1-30-w0"}, false, fs_.now() + 10).status()));
  EXPECT_THAT(Names(), ElementsAre("1-30-w0", "1-20-w0", kOld));
  ASSERT_TRUE(store_.Remove("job", {"1-30-w0", kOld}, true, fs_.now() + 10).ok());
  EXPECT_THAT(Names(), ElementsAre("1-20-w0"));
  EXPECT_THAT(*store_.Pinned("job"), IsEmpty());
}

TEST_F(StorePinsTest, ADryRunTellsAndChangesNothing) {
  const auto before = fs_.Files();
  const auto told = store_.Collect("job", {.keep_last = 1}, fs_.now() + 10, {.dry_run = true});
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(fs_.Files(), before);
  const auto done = store_.Collect("job", {.keep_last = 1}, fs_.now() + 10);
  EXPECT_EQ(told->manifests, done->manifests);
  EXPECT_EQ(told->verdicts, done->verdicts);
  EXPECT_EQ(told->shards, done->shards);
  EXPECT_EQ(told->bytes, done->bytes);
  EXPECT_GT(done->shards, 0);
}

}  // namespace
}  // namespace rekindle::checkpoint
