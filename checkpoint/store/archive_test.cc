// Checks copies of checkpoints to the cold store and back.
#include "checkpoint/store/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "checkpoint/testing/testing.h"
#include "common/bundle/bundle_writer.h"
#include "common/testing/fault_file.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kTotal = 10;
constexpr double kDay = 24 * 3600;
constexpr size_t kCodeBytes = 100'000;

class ArchiveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int step : {10, 20, 30}) {
      ASSERT_TRUE(Save(hot_, "job", 1, step, State(step)).ok());
      fs_.Advance(kDay);
    }
  }
  static TestState State(int step) { return TestState::Random(kTotal, static_cast<uint64_t>(step)); }
  static std::vector<std::string> Names(Store& store) {
    std::vector<std::string> names;
    const auto listed = store.List("job");
    for (const StoredCheckpoint& checkpoint : *listed) {
      EXPECT_EQ(checkpoint.problem, "");
      names.push_back(checkpoint.name);
    }
    return names;
  }
  // Returns a bundle of `kCodeBytes` bytes that cannot be compressed.
  static common::PackedBundle BundleOf(unsigned seed) {
    std::mt19937 random(seed);
    std::string content(kCodeBytes, '\0');
    for (char& c : content) c = static_cast<char>(random());
    common::BundleWriter writer;
    EXPECT_TRUE(writer.Begin({"train.py", false, static_cast<int64_t>(content.size())}).ok());
    EXPECT_TRUE(writer.Content(content).ok());
    return *writer.Finish();
  }
  absl::StatusOr<Archived> Archive(const CopyProgress& progress = nullptr) {
    return ArchiveDue(hot_, cold_, "job", retention_, fs_.now(), progress);
  }

  common::FaultFileSystem fs_;
  Store hot_{fs_, "/hot", 0};
  Store cold_{fs_, "/cold", 0};
  const Retention retention_{.archive_store = "file:///cold", .archive_seconds = 1.5 * kDay};
};

TEST_F(ArchiveTest, WhatIsOldLeavesTheHotStoreAndComesBack) {
  const auto archived = Archive();
  ASSERT_TRUE(archived.ok()) << archived.status();
  EXPECT_THAT(archived->copied, ElementsAre("1-20-w0", "1-10-w0"));
  EXPECT_THAT(archived->problems, IsEmpty());
  EXPECT_THAT(Names(hot_), ElementsAre("1-30-w0"));
  EXPECT_THAT(Names(cold_), ElementsAre("1-20-w0", "1-10-w0"));
  EXPECT_TRUE(cold_.Verify("job", "1-10-w0").ok());

  ASSERT_TRUE(CopyCheckpoint(cold_, hot_, "job", "1-10-w0").ok());
  EXPECT_THAT(Names(hot_), ElementsAre("1-30-w0", "1-10-w0"));
  EXPECT_TRUE(Load(hot_, *hot_.ReadManifest("job", "1-10-w0"), kTotal).value() == State(10));
  // The age of a checkpoint that was copied back counts from its return.
  EXPECT_THAT(Archive()->copied, IsEmpty());
}

TEST_F(ArchiveTest, TheCodeOfTheJobGoesWithItAndComesBack) {
  const common::PackedBundle bundle = BundleOf(1), damaged = BundleOf(2);
  const std::string& address = bundle.summary.address;
  ASSERT_TRUE(hot_.PutBundle("job", address, bundle.packed).ok());
  fs_.Put("/hot/job/bundle-" + damaged.summary.address, "no bundle");
  fs_.Put("/hot/job/bundle-" + std::string(64, 'a') + ".tmp-1", "not whole");
  const auto archived = Archive();
  ASSERT_TRUE(archived.ok()) << archived.status();
  EXPECT_THAT(archived->problems, IsEmpty());
  EXPECT_THAT(*cold_.ListBundles("job"), ElementsAre(address));
  EXPECT_EQ(*cold_.ReadBundle("job", address), bundle.packed);

  Store other(fs_, "/other", 0);
  ASSERT_TRUE(CopyCheckpoint(cold_, other, "job", "1-10-w0").ok());
  EXPECT_THAT(*other.ListBundles("job"), ElementsAre(address));
  EXPECT_THAT(*other.ListBundles("another"), IsEmpty());
  const auto no_room = [](int64_t bytes) {
    return bytes > static_cast<int64_t>(kCodeBytes) / 2 ? absl::ResourceExhaustedError("no room") : absl::OkStatus();
  };
  Store full(fs_, "/full", 0);
  EXPECT_TRUE(absl::IsResourceExhausted(CopyCheckpoint(cold_, full, "job", "1-10-w0", nullptr, no_room)));
  EXPECT_THAT(Names(full), IsEmpty()) << "the code is there before the checkpoint";
}

TEST_F(ArchiveTest, PinnedOnesStayHot) {
  ASSERT_TRUE(hot_.PutPin("job", "1-10-w0", {.why = "gold"}).ok());
  EXPECT_THAT(Archive()->copied, ElementsAre("1-20-w0"));
  EXPECT_THAT(Names(hot_), ElementsAre("1-30-w0", "1-10-w0"));
}

TEST_F(ArchiveTest, ACopyThatWasCutOffGoesOn) {
  int shards = 0;
  const auto cut = Archive([&](int64_t, int64_t) { return ++shards < 3; });
  EXPECT_TRUE(absl::IsCancelled(cut.status())) << cut.status();
  EXPECT_THAT(Names(cold_), IsEmpty());
  EXPECT_THAT(Names(hot_), SizeIs(3));
  const size_t before = fs_.operations().size();
  ASSERT_TRUE(Archive().ok());
  EXPECT_THAT(Names(cold_), ElementsAre("1-20-w0", "1-10-w0"));
  const auto operations = fs_.operations();
  int written = 0;
  for (size_t i = before; i < operations.size(); ++i) {
    written += operations[i].rfind("rename ", 0) == 0 && operations[i].find("/cold/job/shards/") != std::string::npos;
  }
  // The cold store already has two shards from the archiving that was cut off, so they are not written again.
  const auto manifest = cold_.ReadManifest("job", "1-10-w0");
  EXPECT_EQ(written, static_cast<int>(2 * manifest->shards.size()) - 2);
}

TEST_F(ArchiveTest, NothingLeavesBeforeItIsWholeThereWhateverFails) {
  const auto dry = fs_.Clone();
  Store dry_hot(*dry, "/hot", 0), dry_cold(*dry, "/cold", 0);
  const size_t start = dry->operations().size();
  ASSERT_TRUE(ArchiveDue(dry_hot, dry_cold, "job", retention_, dry->now()).ok());
  const size_t end = dry->operations().size();
  for (size_t at = start; at < end; at += kThinned ? 9 : 1) {
    for (const bool power : {false, true}) {
      const auto fs = fs_.Clone();
      fs->FailAt(static_cast<int64_t>(at - start + fs->operations().size()), absl::InternalError("killed"), true);
      Store hot(*fs, "/hot", 0), cold(*fs, "/cold", 0);
      ArchiveDue(hot, cold, "job", retention_, fs->now()).IgnoreError();
      power ? fs->Crash(at) : fs->Heal();
      for (const std::string name : {"1-10-w0", "1-20-w0", "1-30-w0"}) {
        ASSERT_TRUE(hot.Verify("job", name).ok() || cold.Verify("job", name).ok()) << name << " " << at << power;
      }
      ASSERT_TRUE(ArchiveDue(hot, cold, "job", retention_, fs->now()).ok());
      ASSERT_THAT(Names(hot), ElementsAre("1-30-w0"));
      ASSERT_THAT(Names(cold), ElementsAre("1-20-w0", "1-10-w0"));
    }
  }
}

TEST_F(ArchiveTest, WhatFindsNoRoomThereStaysAndNothingOfItIsWritten) {
  int64_t asked = 0;
  const auto none = [&](int64_t bytes) {
    asked += bytes;
    return absl::ResourceExhaustedError("no room");
  };
  const auto archived = ArchiveDue(hot_, cold_, "job", retention_, fs_.now(), nullptr, none);
  ASSERT_TRUE(archived.ok()) << archived.status();
  EXPECT_THAT(archived->problems, ElementsAre("1-20-w0: no room", "1-10-w0: no room"));
  EXPECT_GT(asked, 0);
  EXPECT_THAT(Names(hot_), SizeIs(3));
  for (const std::string& file : fs_.Files()) EXPECT_FALSE(file.starts_with("/cold/")) << file;
  EXPECT_THAT(Archive()->copied, SizeIs(2));
}

TEST_F(ArchiveTest, ADamagedOneIsNamedAndStays) {
  const std::string path = "/hot/job/shards/" + hot_.ReadManifest("job", "1-20-w0")->shards[1].name;
  std::string content = fs_.Get(path);
  content.back() ^= 1;
  fs_.Put(path, content);
  fs_.Advance(2 * kDay);
  const auto archived = Archive();
  EXPECT_THAT(archived->copied, ElementsAre("1-30-w0", "1-10-w0"));
  EXPECT_THAT(archived->problems, ElementsAre(HasSubstr("1-20-w0: ")));
  EXPECT_THAT(Names(hot_), ElementsAre("1-20-w0"));
}

TEST_F(ArchiveTest, AJobWhoseStoreIsEmptyIsToldWhereItsCheckpointIs) {
  EXPECT_TRUE(CheckNotInArchive(cold_, "file:///cold", "job").ok());
  ASSERT_TRUE(Archive().ok());
  const absl::Status status = CheckNotInArchive(cold_, "file:///cold", "job");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("file:///cold has 1-20-w0: bring it back with `rekindle checkpoint archive job 1-20-w0 --restore`"));
  EXPECT_TRUE(CheckNotInArchive(cold_, "file:///cold", "other").ok());
}

}  // namespace
}  // namespace rekindle::checkpoint
