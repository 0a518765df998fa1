// Checks that ranks of an older generation, which were cut off and have not noticed that the job continues without
// them, do no harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/backends/file_backend.h"
#include "checkpoint/job/generation_marks.h"
#include "checkpoint/store/store.h"
#include "checkpoint/testing/interleaved_testing.h"
#include "checkpoint/testing/testing.h"
#include "common/testing/fault_file.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int64_t kTotal = 10;

TestState State(int step) { return TestState::Random(kTotal, static_cast<uint64_t>(step)); }

class StoreGenerationsTest : public ::testing::Test {
 protected:
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const auto listed = store_.List("job");
    for (const StoredCheckpoint& checkpoint : *listed) names.push_back(checkpoint.name);
    return names;
  }
  void SaveSteps(int generation, std::initializer_list<int> steps) {
    for (int step : steps) ASSERT_TRUE(Save(store_, "job", generation, step, State(step)).ok());
  }

  common::FaultFileSystem fs_;
  Store store_{fs_, "/store", 0};
  FileBackend backend_{fs_, "/store"};
  GenerationMarks marks_{JobFolder(backend_, "job")};
};

// If a rank of an older generation was cut off and has not noticed it, only the marks in the store still keep it from
// saving and collecting.
TEST_F(StoreGenerationsTest, OnceAGenerationHasBegunOlderOnesNeitherSaveNorCollect) {
  SaveSteps(3, {100, 110, 120});
  EXPECT_EQ(*marks_.Highest(), 0);
  ASSERT_TRUE(store_.BeginGeneration("job", 5).ok());
  ASSERT_TRUE(store_.BeginGeneration("job", 5).ok()) << "all its ranks begin it";
  EXPECT_EQ(*marks_.Highest(), 5);
  const auto late = Save(store_, "job", 4, 130, State(130));
  EXPECT_TRUE(absl::IsFailedPrecondition(late.status())) << late.status();
  EXPECT_THAT(std::string(late.status().message()), AllOf(HasSubstr("generation 4"), HasSubstr("generation 5")));
  const auto collected = store_.Collect("job", {.keep_last = 1}, fs_.now(), {.generation = 4});
  EXPECT_TRUE(absl::IsFailedPrecondition(collected.status())) << collected.status();
  EXPECT_THAT(Names(), SizeIs(3));
  EXPECT_TRUE(absl::IsFailedPrecondition(store_.BeginGeneration("job", 4)));

  SaveSteps(5, {130});
  ASSERT_TRUE(store_.BeginGeneration("job", 7).ok());
  fs_.Put("/store/job/generations/0099", "of somebody else\n");
  fs_.Put("/store/job/generations/-8", "of somebody else\n");
  ASSERT_TRUE(store_.Collect("job", {.keep_last = 1}, fs_.now(), {.generation = 7}).ok());
  EXPECT_THAT(Names(), ElementsAre("5-130-w0"));
  EXPECT_EQ(*marks_.Highest(), 7);
  EXPECT_EQ(fs_.Get("/store/job/generations/7"), "begun\n");
  EXPECT_FALSE(fs_.Stat("/store/job/generations/5").ok()) << "the highest says it all";
  EXPECT_TRUE(fs_.Stat("/store/job/generations/0099").ok());
  EXPECT_TRUE(store_.Collect("job", {.keep_last = 1}, fs_.now()).ok()) << "a user may";
}

// If the older generation's save has succeeded, its checkpoint was in the store before the newer generation chose the
// checkpoint to begin from.
TEST_F(StoreGenerationsTest, ANewerOneBeginsAtAnyPointOfASave) {
  SaveSteps(3, {100});
  const auto manifest = PutShards(store_, "job", 3, 110, State(110), 2);
  ASSERT_TRUE(manifest.ok());
  int saved = 0, refused = 0;
  for (int at = 0;; ++at) {
    const auto fs = fs_.Clone();
    std::string chosen;
    const auto backend = std::make_shared<Interleaved>(*fs, at, [&] {
      Store other(*fs, "/store", 0);
      ASSERT_TRUE(other.BeginGeneration("job", 4).ok());
      chosen = other.FindNewest("job")->name;
    });
    Store store(backend, 0);
    const auto name = store.PutManifest(*manifest);
    if (at >= backend->operations()) break;
    ASSERT_TRUE(name.ok() ? chosen == *name : absl::IsFailedPrecondition(name.status())) << at << ": " << name.status();
    ++(name.ok() ? saved : refused);
  }
  EXPECT_GT(refused, 3);
  EXPECT_EQ(saved, 0) << "the last thing that a save does is to look again";
}

TEST_F(StoreGenerationsTest, ANewerOneBeginsAtAnyPointOfACollection) {
  SaveSteps(3, {100, 110, 120});
  for (int at = 0;; ++at) {
    const auto fs = fs_.Clone();
    std::string chosen;
    const auto backend = std::make_shared<Interleaved>(*fs, at, [&] {
      Store other(*fs, "/store", 0);
      ASSERT_TRUE(other.BeginGeneration("job", 4).ok());
      chosen = other.FindNewest("job")->name;
    });
    Store store(backend, 0);
    (void)store.Collect("job", {.keep_last = 1}, fs->now() + 10, {.generation = 3});
    if (at >= backend->operations()) break;
    Store after(*fs, "/store", 0);
    ASSERT_TRUE(after.Verify("job", chosen).ok()) << chosen << " before operation " << at;
    ASSERT_EQ(fs->Get("/store/job/generations/4"), "begun\n") << at;
  }
}

// If a store cannot be read, no generation may begin or save.
TEST_F(StoreGenerationsTest, WhereNumbersCannotBeListedNothingIsSaved) {
  SaveSteps(3, {100});
  fs_.FailAt(0, absl::UnavailableError("away"), /*for_ever=*/true);
  EXPECT_TRUE(absl::IsUnavailable(store_.BeginGeneration("job", 4)));
  EXPECT_TRUE(absl::IsUnavailable(marks_.Highest().status()));
  fs_.Heal();
  EXPECT_TRUE(absl::IsInvalidArgument(store_.BeginGeneration("job", 0)));
  EXPECT_TRUE(absl::IsInvalidArgument(store_.BeginGeneration("../job", 1)));
}

}  // namespace
}  // namespace rekindle::checkpoint
