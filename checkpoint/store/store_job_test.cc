// Checks how a store keeps job.json, and in which order the file and the manifests are written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/backends/file_backend.h"
#include "checkpoint/job/stored_job_file.h"
#include "checkpoint/store/store.h"
#include "checkpoint/testing/framed_job_file_testing.h"
#include "checkpoint/testing/interleaved_testing.h"
#include "checkpoint/testing/testing.h"
#include "common/testing/fault_file.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kPath[] = "/store/job/job.json";

class StoreJobTest : public ::testing::Test {
 protected:
  absl::StatusOr<Manifest> Shards(int generation, int step) {
    return PutShards(store_, "job", generation, step, TestState::Random(10, static_cast<uint64_t>(step)), 2);
  }
  absl::StatusOr<std::string> Save(int generation, int step, const JobFile& job) {
    const auto manifest = Shards(generation, step);
    if (!manifest.ok()) return manifest.status();
    return store_.PutManifest(*manifest, job);
  }

  common::FaultFileSystem fs_;
  Store store_{fs_, "/store", 0};
  FileBackend backend_{fs_, "/store"};
  StoredJobFile stored_{JobFolder(backend_, "job")};
};

TEST_F(StoreJobTest, ComesWithACheckpointAndIsRead) {
  EXPECT_FALSE(stored_.IsThere().value());
  EXPECT_TRUE(absl::IsNotFound(store_.ReadJobFile("job").status()));
  ASSERT_TRUE(Save(3, 10, {.text = JobFileOf("job", R"("spent":1)")}).ok());
  EXPECT_TRUE(stored_.IsThere().value());
  EXPECT_EQ(store_.ReadJobFile("job").value(), InnerOf("job", R"("spent":1)"));
  EXPECT_EQ(fs_.Get(kPath), JobFileOf("job", R"("spent":1)"));
  ASSERT_TRUE(Save(3, 20, {.text = JobFileOf("job", R"("spent":2)"), .required = true}).ok());
  EXPECT_EQ(store_.ReadJobFile("job").value(), InnerOf("job", R"("spent":2)"));
  ASSERT_TRUE(Save(3, 30, {}).ok());
  EXPECT_EQ(store_.ReadJobFile("job").value(), InnerOf("job", R"("spent":2)")) << "an old one beside a new manifest";
  EXPECT_THAT(store_.ListJobs().value(), ElementsAre("job"));
}

TEST_F(StoreJobTest, NoManifestWithoutOneThatIsRequired) {
  const auto refused = Save(3, 10, {.required = true});
  EXPECT_TRUE(absl::IsAborted(refused.status())) << refused.status();
  EXPECT_THAT(store_.ListNames("job").value(), IsEmpty());
  const auto foreign = Save(3, 10, {.text = JobFileOf("another")});
  EXPECT_TRUE(absl::IsInvalidArgument(foreign.status())) << foreign.status();
  EXPECT_THAT(store_.ListNames("job").value(), IsEmpty());
  ASSERT_TRUE(store_.PutJobFile("job", 3, JobFileOf("job")).ok());
  EXPECT_TRUE(Save(3, 10, {.required = true}).ok());
}

// Whichever operation of a save fails, there is no manifest without a job file.
TEST_F(StoreJobTest, ASaveThatIsCutOffLeavesNoManifestAlone) {
  const auto manifest = Shards(3, 10);
  ASSERT_TRUE(manifest.ok());
  bool saved = false;
  for (int at = 0; !saved; ++at) {
    const auto fs = fs_.Clone();
    fs->FailAt(at, absl::UnavailableError("cut off"), /*for_ever=*/true);
    Store store(*fs, "/store", 0);
    saved = store.PutManifest(*manifest, {.text = JobFileOf("job"), .required = true}).ok();
    fs->Heal();
    if (!store.ListNames("job")->empty()) {
      EXPECT_TRUE(store.ReadJobFile("job").ok()) << at;
    }
    ASSERT_LT(at, 100);
  }
}

TEST_F(StoreJobTest, AnOlderGenerationWritesNothing) {
  ASSERT_TRUE(Save(3, 10, {.text = JobFileOf("job", R"("of":3)")}).ok());
  ASSERT_TRUE(store_.BeginGeneration("job", 5).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(store_.PutJobFile("job", 4, JobFileOf("job", R"("of":4)"))));
  EXPECT_TRUE(absl::IsFailedPrecondition(Save(4, 20, {.text = JobFileOf("job", R"("of":4)")}).status()));
  EXPECT_EQ(store_.ReadJobFile("job").value(), InnerOf("job", R"("of":3)"));
  // Generation 6 has no mark in the store, because it took over live state instead of beginning from a checkpoint. Its
  // saved checkpoint alone keeps generation 5 out.
  ASSERT_TRUE(Save(6, 30, {.text = JobFileOf("job", R"("of":6)")}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(store_.PutJobFile("job", 5, JobFileOf("job", R"("of":5)"))));
  EXPECT_EQ(store_.ReadJobFile("job").value(), InnerOf("job", R"("of":6)"));
  EXPECT_TRUE(store_.PutJobFile("job", 6, JobFileOf("job", R"("over":1)")).ok());
}

// PutJobFile fails if a newer generation begins meanwhile. So if it succeeds, job.json was written before the newer
// generation began.
TEST_F(StoreJobTest, ANewerGenerationBeginsWhileItIsWritten) {
  ASSERT_TRUE(Save(3, 10, {.text = JobFileOf("job", R"("of":3)")}).ok());
  for (int at = 0;; ++at) {
    const auto fs = fs_.Clone();
    const auto backend = std::make_shared<Interleaved>(*fs, at, [&] {
      Store other(*fs, "/store", 0);
      ASSERT_TRUE(other.BeginGeneration("job", 4).ok());
    });
    Store store(backend, 0);
    const absl::Status written = store.PutJobFile("job", 3, JobFileOf("job"));
    if (at >= backend->operations()) break;
    ASSERT_TRUE(absl::IsFailedPrecondition(written)) << at << ": " << written;
  }
}

TEST_F(StoreJobTest, WhatIsDamagedIsSaidToBe) {
  ASSERT_TRUE(Save(3, 10, {.text = JobFileOf("job")}).ok());
  for (const std::string& content : {std::string(), std::string("{}"), JobFileOf("another"),
                                     std::string(kMaxJobFileBytes + 1, 'x'), std::string(8 << 20, 'x')}) {
    fs_.Put(kPath, content);
    EXPECT_TRUE(absl::IsDataLoss(store_.ReadJobFile("job").status())) << content.size();
    EXPECT_TRUE(store_.FindNewest("job")->found) << "the checkpoints are whole";
  }
  ASSERT_TRUE(Save(3, 20, {.text = JobFileOf("job")}).ok());
  EXPECT_TRUE(store_.ReadJobFile("job").ok());
  fs_.FailAt(0, absl::UnavailableError("away"), /*for_ever=*/true);
  EXPECT_TRUE(absl::IsUnavailable(store_.ReadJobFile("job").status()));
  EXPECT_TRUE(absl::IsUnavailable(stored_.IsThere().status()));
  fs_.Heal();
  for (const char* uid : {"", "../job", "a/b"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(store_.ReadJobFile(uid).status())) << uid;
    EXPECT_TRUE(absl::IsInvalidArgument(store_.PutJobFile(uid, 3, JobFileOf(uid)))) << uid;
  }
}

TEST_F(StoreJobTest, IsNeverCollected) {
  for (int step : {10, 20, 30}) ASSERT_TRUE(Save(3, step, {.text = JobFileOf("job")}).ok());
  fs_.Put("/store/job/job.json.tmp-1", "of a writer that died");
  fs_.Put("/store/job/bundle-" + std::string(64, 'a') + ".tmp-1", "of another one");
  fs_.Put("/store/job/bundle-" + std::string(64, 'b'), "whole");
  fs_.Put("/store/job/notes", "of somebody else");
  const double later = fs_.now() + 1e6;
  const auto collected = store_.Collect("job", {.keep_last = 1}, later);
  ASSERT_TRUE(collected.ok()) << collected.status();
  EXPECT_THAT(collected->manifests, SizeIs(2));
  EXPECT_EQ(collected->temporary, 2);
  EXPECT_TRUE(store_.ReadJobFile("job").ok());
  EXPECT_TRUE(fs_.Stat("/store/job/bundle-" + std::string(64, 'b')).ok());
  EXPECT_TRUE(fs_.Stat("/store/job/notes").ok());
  ASSERT_TRUE(store_.Remove("job", {"3-30-w0"}, /*force=*/true, later).ok());
  EXPECT_TRUE(store_.ReadJobFile("job").ok());
}

}  // namespace
}  // namespace rekindle::checkpoint
