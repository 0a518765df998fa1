// Checks which checkpoints the memory of a node holds and which it forgets.
#include "checkpoint/service/memory_tier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MemoryTier::SegmentPtr Segment(int64_t bytes = 10) {
  return std::make_shared<const Staging::Segment>(Staging::Place{.name = "s", .path = "/nowhere", .bytes = bytes},
                                                  SegmentOwner{}, [](const Staging::Place&) {});
}

Manifest ManifestAt(int generation, int step) {
  Manifest manifest;
  manifest.job_uid = "job";
  manifest.generation = generation;
  manifest.step = step;
  manifest.writer = "w";
  return manifest;
}

TEST(MemoryTier, HoldsTheLastCompleteOneAndWhatIsOnItsWay) {
  MemoryTier tier;
  tier.Keep("job", {1, 10}, "a", Segment());
  ASSERT_TRUE(tier.PutManifest(ManifestAt(1, 10)));
  tier.Keep("job", {1, 20}, "b", Segment());
  EXPECT_THAT(tier.Held("job"), ElementsAre("a", "b"));
  ASSERT_TRUE(tier.PutManifest(ManifestAt(1, 20)));
  EXPECT_THAT(tier.Held("job"), ElementsAre("b"));
  EXPECT_EQ(tier.bytes(), 10);
  // A shard that arrives late belongs to a checkpoint older than the complete one, so it is not held.
  tier.Keep("job", {1, 15}, "late", Segment());
  EXPECT_THAT(tier.Held("job"), ElementsAre("b"));
}

TEST(MemoryTier, NeverHoldsMoreThanTwo) {
  MemoryTier tier;
  for (int step = 1; step <= 5; ++step)
    tier.Keep("job", {1, step}, std::string(1, static_cast<char>('a' + step)), Segment());
  EXPECT_THAT(tier.Held("job"), ElementsAre("e", "f"));
}

TEST(MemoryTier, AnOlderGenerationCompletesNothing) {
  MemoryTier tier;
  ASSERT_TRUE(tier.PutManifest(ManifestAt(3, 10)));
  EXPECT_FALSE(tier.PutManifest(ManifestAt(2, 90)));
  EXPECT_TRUE(tier.PutManifest(ManifestAt(3, 10)));
  ASSERT_EQ(tier.Manifests("job").size(), 1u);
  EXPECT_TRUE(tier.FindManifest("job", "3-10-w").has_value());
  EXPECT_FALSE(tier.FindManifest("job", "2-90-w").has_value());
}

TEST(MemoryTier, EqualShardsShareTheirMemory) {
  MemoryTier tier;
  tier.Keep("job", {1, 10}, "frozen", Segment());
  tier.Keep("job", {1, 20}, "frozen", Segment());
  EXPECT_EQ(tier.bytes(), 10);
  ASSERT_TRUE(tier.PutManifest(ManifestAt(1, 20)));
  EXPECT_NE(tier.Find("job", "frozen"), nullptr);
  tier.Drop("job", "frozen");
  EXPECT_EQ(tier.Find("job", "frozen"), nullptr);
}

TEST(MemoryTier, ForgetsJobsThatAreOverAndTheOldestForRoom) {
  MemoryTier tier;
  tier.Keep("job", {1, 10}, "a", Segment());
  tier.Keep("job", {1, 20}, "b", Segment());
  tier.Keep("other", {1, 10}, "c", Segment());
  EXPECT_TRUE(tier.ForgetOldest());
  EXPECT_THAT(tier.Held("job"), ElementsAre("b"));
  tier.KeepJobs({"other"});
  EXPECT_THAT(tier.Held("job"), IsEmpty());
  EXPECT_THAT(tier.Held("other"), ElementsAre("c"));
  EXPECT_TRUE(tier.ForgetOldest());
  EXPECT_FALSE(tier.ForgetOldest());
}

}  // namespace
}  // namespace rekindle::checkpoint
