#include "worker/agent/trainers/gpu_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::agent {
namespace {

using gpus::Gpu;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr char kGone[] = "the driver does not list it any more";

Gpu Named(const std::string& uuid, double bytes = 80) { return {.uuid = uuid, .memory_bytes = bytes}; }
Gpu Broken(const std::string& uuid, const std::string& problem) {
  return {.uuid = uuid, .memory_bytes = 80, .problem = problem};
}

TEST(MergeGpus, TheKnownOrderStays) {
  EXPECT_THAT(MergeGpus({}, {Named("a"), Named("b")}), ElementsAre(Named("a"), Named("b")));
  EXPECT_THAT(MergeGpus({Named("a"), Named("b")}, {Named("c"), Named("b"), Named("a")}),
              ElementsAre(Named("a"), Named("b"), Named("c")));
}

TEST(MergeGpus, AGpuThatIsNotListedAnyMoreIsBroken) {
  EXPECT_THAT(MergeGpus({Named("a"), Named("b")}, {Named("b")}), ElementsAre(Broken("a", kGone), Named("b")));
  EXPECT_THAT(MergeGpus({Named("a")}, {}), ElementsAre(Broken("a", kGone)));
  EXPECT_THAT(MergeGpus({Broken("a", kGone)}, {Named("a")}), ElementsAre(Named("a")));
}

TEST(MergeGpus, TheWordsOfAGpuThatIsListedWithoutItsUuidAreThoseOfTheOneThatIsMissing) {
  const std::vector<Gpu> merged = MergeGpus({Named("a"), Named("b")}, {Named("a"), Gpu{.problem = "GPU is lost"}});
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[1].uuid, "b");
  EXPECT_EQ(merged[1].problem, "GPU is lost");
}

TEST(MergeGpus, AGpuThatWasBrokenFromTheStartIsNamedWhenItIsMended) {
  EXPECT_THAT(MergeGpus({Named("a"), Gpu{.problem = "GPU is lost"}}, {Named("a"), Named("b")}),
              ElementsAre(Named("a"), Named("b")));
}

std::map<int, std::string> WordsOf(const std::map<int, SlotFault>& problems) {
  std::map<int, std::string> words;
  for (const auto& [slot, fault] : problems) words[slot] = fault.words;
  return words;
}

TEST(GpuSlots, WithoutGpusAllSlotsComputeOnTheProcessor) {
  const GpuSlots slots({}, 1, 4, false);
  EXPECT_EQ(slots.DeviceOf(3).kind, "cpu");
  EXPECT_EQ(slots.DeviceOf(3).uuid, "");
  EXPECT_THAT(WordsOf(slots.Problems()), IsEmpty());
  v1::Device device;
  device.set_kind("cpu");
  slots.Report(&device);
  EXPECT_EQ(device.kind(), "cpu");
}

TEST(GpuSlots, SlotsShareGpusInTurn) {
  const GpuSlots slots({Named("GPU-a"), Named("GPU-b")}, 2, 4, false);
  EXPECT_EQ(slots.DeviceOf(0).kind, "cuda");
  EXPECT_EQ(slots.DeviceOf(0).uuid, "GPU-a");
  EXPECT_EQ(slots.DeviceOf(1).uuid, "GPU-b");
  EXPECT_EQ(slots.DeviceOf(2).uuid, "GPU-a");
  EXPECT_EQ(slots.DeviceOf(3).uuid, "GPU-b");
  EXPECT_EQ(slots.DeviceOf(3).memory_bytes, 40);
}

TEST(GpuSlots, ABrokenGpuBreaksAllItsSlots) {
  const GpuSlots slots({Broken("GPU-a", "GPU is lost"), Named("GPU-b")}, 2, 3, false);
  EXPECT_THAT(WordsOf(slots.Problems()), ElementsAre(Pair(0, "GPU is lost"), Pair(1, ""), Pair(2, "GPU is lost")));
}

TEST(GpuSlots, AGpuWithoutANameOrMemoryCannotBeUsed) {
  const GpuSlots slots({Gpu{.memory_bytes = 80}, Gpu{.uuid = "GPU-b"}}, 1, 2, false);
  EXPECT_THAT(WordsOf(slots.Problems()), ElementsAre(Pair(0, "the driver does not tell its UUID"),
                                                     Pair(1, "the driver does not tell how much memory it has")));
}

TEST(GpuSlots, AGpuBeforeSm90CannotBeUsed) {
  const GpuSlots slots({Gpu{.uuid = "GPU-a", .compute_capability = 89, .memory_bytes = 80},
                        Gpu{.uuid = "GPU-b", .compute_capability = 90, .memory_bytes = 80},
                        // A driver may not tell the capability. The trainer's kernels then find out.
                        Gpu{.uuid = "GPU-c", .memory_bytes = 80}},
                       1, 3, false);
  EXPECT_THAT(
      WordsOf(slots.Problems()),
      ElementsAre(Pair(0, "it is of sm_89, and trainers need a GPU of sm_90 or later"), Pair(1, ""), Pair(2, "")));
}

TEST(GpuSlots, TakesTheNewestListForTheSlotsThatThereAre) {
  GpuSlots slots({Named("GPU-a"), Named("GPU-b")}, 1, 2, false);
  slots.Take({Named("GPU-c"), Broken("GPU-b", "GPU is lost"), Named("GPU-a")});
  EXPECT_EQ(slots.DeviceOf(1).uuid, "GPU-b");
  EXPECT_THAT(WordsOf(slots.Problems()), ElementsAre(Pair(0, ""), Pair(1, "GPU is lost")));
  slots.Take({});
  EXPECT_THAT(WordsOf(slots.Problems()), ElementsAre(Pair(0, kGone), Pair(1, kGone)));
  slots.Take({Named("GPU-a"), Named("GPU-b")});
  EXPECT_THAT(WordsOf(slots.Problems()), ElementsAre(Pair(0, ""), Pair(1, "")));
}

TEST(GpuSlots, TheWeakestGpuThatWorksStandsForAll) {
  const GpuSlots slots({Gpu{.uuid = "a", .name = "Large GPU", .compute_capability = 100, .memory_bytes = 80},
                        Gpu{.uuid = "b", .name = "Old GPU", .compute_capability = 90, .memory_bytes = 100},
                        Gpu{.uuid = "c", .compute_capability = 90, .memory_bytes = 10, .problem = "lost"}},
                       2, 6, false);
  v1::Device device;
  slots.Report(&device);
  EXPECT_EQ(device.kind(), "cuda");
  EXPECT_EQ(device.compute_capability(), 90);
  EXPECT_EQ(device.memory_bytes(), 40);
  EXPECT_EQ(device.name(), "Old GPU");
  EXPECT_FALSE(device.is_fake());
}

}  // namespace
}  // namespace rekindle::agent
