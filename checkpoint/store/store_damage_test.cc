// Checks that a checkpoint with damaged bytes is never restored. The next older checkpoint is found, with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/store/store.h"
#include "checkpoint/testing/testing.h"
#include "common/testing/fault_file.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr int64_t kTotal = 10;

class StoreDamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Save(store_, "job", 1, 10, older_).ok());
    const auto before = fs_.Files();
    ASSERT_TRUE(Save(store_, "job", 1, 20, newer_).ok());
    for (const std::string& file : fs_.Files()) {
      if (std::find(before.begin(), before.end(), file) == before.end()) files_.push_back(file);
    }
    // A checkpoint has five files: two planes of each of two shards, and a manifest.
    ASSERT_THAT(files_, SizeIs(5));
  }

  void ExpectOlderIsFound(const std::string& what, const std::string& skipped_name = "1-20-w0") {
    const auto newest = store_.FindNewest("job");
    ASSERT_TRUE(newest.ok() && newest->found) << what;
    ASSERT_EQ(newest->name, "1-10-w0") << what;
    ASSERT_THAT(newest->skipped, SizeIs(1)) << what;
    ASSERT_THAT(newest->skipped[0], StartsWith(skipped_name + ": ")) << what;
    ASSERT_FALSE(store_.Verify("job", skipped_name).ok()) << what;
  }

  common::FaultFileSystem fs_;
  Store store_{fs_, "/store"};
  const TestState older_ = TestState::Random(kTotal, 1);
  const TestState newer_ = TestState::Random(kTotal, 2);
  // `files_` lists the files of the newer one of the two checkpoints that the test has saved.
  std::vector<std::string> files_;
};

TEST_F(StoreDamageTest, EveryBitOfEveryFile) {
  for (const std::string& file : files_) {
    const std::string content = fs_.Get(file);
    for (size_t at = 0; at < content.size(); ++at) {
      for (int bit = kThinned ? 7 : 0; bit < 8; ++bit) {
        std::string flipped = content;
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
        fs_.Put(file, flipped);
        ExpectOlderIsFound(file + " byte " + std::to_string(at) + " bit " + std::to_string(bit));
      }
    }
    fs_.Put(file, content);
  }
  const auto newest = store_.FindNewest("job");
  // With all bytes put back the newer checkpoint is found again, so it was the damage that kept it from being found.
  EXPECT_EQ(newest->name, "1-20-w0");
  EXPECT_TRUE(Load(store_, newest->manifest, kTotal).value() == newer_);
}

// If a checkpoint that is asked for by name is damaged, an older one is found. If the named checkpoint is missing, none
// is found.
TEST_F(StoreDamageTest, OneAskedForByNameIsDamagedOrMissing) {
  const SearchOptions options{.verify = true, .exact = false, .name = "1-20-w0"};
  for (const std::string& file : files_) {
    const std::string content = fs_.Get(file);
    std::string flipped = content;
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
    fs_.Put(file, flipped);
    const auto damaged = store_.FindNewest("job", options);
    ASSERT_TRUE(damaged.ok());
    EXPECT_EQ(damaged->name, "1-10-w0") << file;
    ASSERT_THAT(damaged->damaged, SizeIs(1)) << file;
    EXPECT_EQ(damaged->damaged[0].name, "1-20-w0");
    EXPECT_EQ(damaged->missing, "");

    fs_.Erase(file);
    const auto missing = store_.FindNewest("job", options);
    ASSERT_TRUE(missing.ok());
    EXPECT_FALSE(missing->found) << file;
    EXPECT_NE(missing->missing, "") << file;
    EXPECT_THAT(missing->damaged, SizeIs(0)) << file;
    fs_.Put(file, content);
  }
  EXPECT_EQ(store_.FindNewest("job", options)->name, "1-20-w0");
  EXPECT_EQ(store_.FindNewest("job", {.verify = true, .exact = false, .name = "1-10-w0"})->name, "1-10-w0");
  // The folder of the job `another` is empty, as if the store's file system was not mounted.
  const auto elsewhere = store_.FindNewest("another", options);
  ASSERT_TRUE(elsewhere.ok());
  EXPECT_FALSE(elsewhere->found);
  EXPECT_NE(elsewhere->missing, "");
}

TEST_F(StoreDamageTest, EveryTruncationAndEveryExtension) {
  for (const std::string& file : files_) {
    const std::string content = fs_.Get(file);
    for (size_t size = 0; size < content.size(); ++size) {
      fs_.Put(file, content.substr(0, size));
      ExpectOlderIsFound(file + " cut to " + std::to_string(size));
    }
    for (const std::string& more : {std::string(1, '\0'), std::string("\n"), content}) {
      fs_.Put(file, content + more);
      ExpectOlderIsFound(file + " longer");
    }
    fs_.Erase(file);
    if (file.find("manifests") == std::string::npos) ExpectOlderIsFound(file + " gone");
    fs_.Put(file, content);
  }
}

TEST_F(StoreDamageTest, ShardsSwapped) {
  const Manifest manifest = store_.ReadManifest("job", "1-20-w0").value();
  const std::string paths[] = {"/store/job/shards/" + manifest.shards[0].name,
                               "/store/job/shards/" + manifest.shards[2].name};
  const std::string first = fs_.Get(paths[0]), second = fs_.Get(paths[1]);
  ASSERT_EQ(first.size(), second.size());
  fs_.Put(paths[0], second);
  fs_.Put(paths[1], first);
  ExpectOlderIsFound("swapped");
}

TEST_F(StoreDamageTest, AStaleManifestUnderANewerName) {
  const std::string manifests = "/store/job/manifests/";
  fs_.Put(manifests + "1-20-w0.json", fs_.Get(manifests + "1-10-w0.json"));
  ExpectOlderIsFound("older manifest under the newer name");
  EXPECT_THAT(store_.FindNewest("job")->skipped[0], HasSubstr("not what its path says"));
}

TEST_F(StoreDamageTest, AnotherJobsManifest) {
  ASSERT_TRUE(Save(store_, "other", 1, 20, newer_).ok());
  fs_.Put("/store/job/manifests/1-20-w0.json", fs_.Get("/store/other/manifests/1-20-w0.json"));
  ExpectOlderIsFound("of another job");
}

TEST_F(StoreDamageTest, NothingWholeIsSaidAndEachIsNamed) {
  for (const std::string& file : fs_.Files()) {
    if (file.find("shards") != std::string::npos) fs_.Put(file, "");
  }
  const auto newest = store_.FindNewest("job");
  ASSERT_TRUE(newest.ok());
  EXPECT_FALSE(newest->found);
  EXPECT_THAT(newest->skipped, SizeIs(2));
  EXPECT_EQ(newest->highest_generation, 1);
}

}  // namespace
}  // namespace rekindle::checkpoint
