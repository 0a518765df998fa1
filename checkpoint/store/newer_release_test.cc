// Checks that a manifest of a newer release is not taken for a damaged one: no restore falls back to an older
// checkpoint, and no collection removes shards that the manifest may name. Checks also that this release writes exactly
// what an older release wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "checkpoint/store/archive.h"
#include "checkpoint/store/store.h"
#include "checkpoint/testing/manifest_testing.h"
#include "checkpoint/testing/testing.h"
#include "common/testing/fault_file.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr int64_t kTotal = 10;
constexpr char kNewer[] = "/store/job/manifests/1-20-w0.json";

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

class NewerReleaseTest : public ::testing::Test {
 protected:
  // The checkpoint of step 10 is written by this release. The manifest of step 20 is rewritten as a newer release would
  // have written it.
  void SetUp() override {
    ASSERT_TRUE(Save(store_, "job", 1, 10, TestState::Random(kTotal, 1)).ok());
    ASSERT_TRUE(Save(store_, "job", 1, 20, TestState::Random(kTotal, 2)).ok());
    body_ = BodyOf(store_.ReadManifest("job", "1-20-w0").value());
    PutNewer(R"("format":3,"needs_release":"0.4.1","slices":[[1,2],[3]])");
  }

  void PutNewer(const std::string& format) {
    std::string body = body_;
    fs_.Put(kNewer, Framed(body.replace(body.find(R"("format":2)"), 10, format)));
  }

  // Returns the error that keeps this release from restoring.
  std::string Refusal() {
    const auto newest = store_.FindNewest("job");
    EXPECT_TRUE(absl::IsFailedPrecondition(newest.status()))
        << newest.status() << (newest.ok() ? " found " + newest->name : "");
    return MessageOf(newest.status());
  }

  common::FaultFileSystem fs_;
  Store store_{fs_, "/store"};
  std::string body_;
};

TEST_F(NewerReleaseTest, NoRestoreGoesBackBehindIt) {
  EXPECT_EQ(Refusal(),
            "1-20-w0: manifest: made by a newer release (format 3, this one reads up to 2): "
            "install release 0.4.1 or later");
  const SearchOptions size_only;
  EXPECT_TRUE(absl::IsFailedPrecondition(store_.FindNewest("job", size_only).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(store_.Verify("job", "1-20-w0")));
}

TEST_F(NewerReleaseTest, WhatIsNoReleaseIsNotShown) {
  for (const char* named :
       {"", R"(,"needs_release":3)", R"(,"needs_release":"")", R"(,"needs_release":"latest")",
        R"(,"needs_release":"1.0\u001b[2J")", R"(,"needs_release":"1.000000000000000000000000000000000")"}) {
    PutNewer(std::string(R"("format":3)") + named);
    EXPECT_THAT(Refusal(), HasSubstr("up to 2): install the release that made it")) << named;
  }
}

TEST_F(NewerReleaseTest, AnUnknownFieldIsOneToo) {
  PutNewer(R"("format":2,"line":"b")");
  EXPECT_THAT(Refusal(), HasSubstr("newer release (manifest has an unknown field 'line')"));
}

TEST_F(NewerReleaseTest, OneThatIsOlderThanTheNewestDoesNotMatter) {
  ASSERT_TRUE(Save(store_, "job", 2, 30, TestState::Random(kTotal, 3)).ok());
  const auto newest = store_.FindNewest("job");
  ASSERT_TRUE(newest.ok()) << newest.status();
  EXPECT_EQ(newest->name, "2-30-w0");
  EXPECT_THAT(newest->skipped, IsEmpty());
}

TEST_F(NewerReleaseTest, NothingIsRemovedBesideIt) {
  for (int step : {30, 40, 50}) {
    ASSERT_TRUE(Save(store_, "job", 2, step, TestState::Random(kTotal, static_cast<uint64_t>(step))).ok());
  }
  const auto before = fs_.Files();
  const double later = fs_.now() + 1e6;
  const auto collected = store_.Collect("job", {.keep_last = 1}, later);
  EXPECT_TRUE(absl::IsFailedPrecondition(collected.status())) << collected.status();
  EXPECT_THAT(MessageOf(collected.status()),
              AllOf(StartsWith("nothing was removed"), HasSubstr("1-20-w0"), HasSubstr("release 0.4.1")));
  EXPECT_TRUE(absl::IsFailedPrecondition(store_.Remove("job", {"1-10-w0"}, /*force=*/true, later).status()));
  EXPECT_EQ(fs_.Files(), before);

  // A user may remove the checkpoint of a newer release by its name.
  const auto removed = store_.Remove("job", {"1-20-w0"}, /*force=*/true, later);
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_THAT(removed->manifests, ElementsAre("1-20-w0"));
  EXPECT_TRUE(store_.Collect("job", {.keep_last = 1}, later).ok());
}

TEST_F(NewerReleaseTest, ItIsListedWithItsReason) {
  const auto listed = store_.List("job");
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ(listed->front().name, "1-20-w0");
  EXPECT_TRUE(listed->front().of_newer_release);
  EXPECT_THAT(listed->front().problem, HasSubstr("release 0.4.1"));
  EXPECT_EQ(listed->back().problem, "");
}

TEST_F(NewerReleaseTest, ADamagedOneIsDamaged) {
  const std::string whole = fs_.Get(kNewer);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    fs_.Put(kNewer, damaged);
    const auto newest = store_.FindNewest("job");
    ASSERT_TRUE(newest.ok()) << at << newest.status();
    EXPECT_EQ(newest->name, "1-10-w0") << at;
  }
}

// A later release with the same manifest format may add to `scalars` what this release ignores.
TEST_F(NewerReleaseTest, ScalarsMayHaveMoreAndCopiesKeepIt) {
  Manifest manifest = store_.ReadManifest("job", "1-10-w0").value();
  manifest.step = 30;
  manifest.scalars = R"({"step":30,"later":{"of":["another",{"release":1}]}})";
  ASSERT_TRUE(store_.PutManifest(manifest).ok());
  EXPECT_EQ(store_.FindNewest("job")->name, "1-30-w0");
  Store archive(fs_, "/archive");
  ASSERT_TRUE(CopyCheckpoint(store_, archive, "job", "1-30-w0", nullptr).ok());
  EXPECT_EQ(archive.ReadManifest("job", "1-30-w0")->scalars, manifest.scalars);
  EXPECT_TRUE(*archive.HasCopy(manifest));
}

// A manifest of an older release, read and written again by this release, has the same bytes. So the older release,
// which refuses fields that it does not know, can read the manifests of this one.
TEST(OlderReleaseTest, ManifestsAreWrittenAsTheyWere) {
  int read = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(REKINDLE_FIXTURES)) {
    if (file.path().parent_path().filename() != "manifests") continue;
    std::ifstream in(file.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const auto manifest = DecodeManifest(text);
    ASSERT_TRUE(manifest.ok()) << file.path() << manifest.status();
    EXPECT_EQ(EncodeManifest(*manifest), text) << file.path();
    ++read;
  }
  EXPECT_GT(read, 5);
}

}  // namespace
}  // namespace rekindle::checkpoint
