#include "worker/gpus/visible_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::gpus {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<Gpu>& FourGpus() {
  static const std::vector<Gpu> gpus = {{.uuid = "GPU-aa11"},
                                        {.uuid = "GPU-aa22"},
                                        {.uuid = "GPU-bb33", .parts = {{.uuid = "MIG-cc1"}, {.uuid = "MIG-cc2"}}},
                                        {.problem = "GPU is lost"}};
  return gpus;
}

std::vector<std::string> Names(const VisibleGpus& visible) {
  std::vector<std::string> names;
  for (const Gpu& gpu : visible.gpus) names.push_back(gpu.uuid.empty() ? gpu.problem : gpu.uuid);
  return names;
}

std::vector<std::string> Selected(const std::string& variable) { return Names(SelectGpus(FourGpus(), variable)); }

TEST(SelectGpus, WithoutTheVariableAllAreVisibleAndAPartitionedOneIsItsParts) {
  EXPECT_THAT(Names(SelectGpus(FourGpus(), std::nullopt)),
              ElementsAre("GPU-aa11", "GPU-aa22", "MIG-cc1", "MIG-cc2", "GPU is lost"));
}

TEST(SelectGpus, NumbersAndUuidsSelectInTheirOrder) {
  EXPECT_THAT(Selected("1,0"), ElementsAre("GPU-aa22", "GPU-aa11"));
  EXPECT_THAT(Selected(" GPU-aa22 , MIG-cc2"), ElementsAre("GPU-aa22", "MIG-cc2"));
  EXPECT_THAT(Selected("3"), ElementsAre("GPU is lost"));
}

TEST(SelectGpus, ABeginningOfAUuidSelectsIfItFitsOneOnly) {
  EXPECT_THAT(Selected("GPU-aa2"), ElementsAre("GPU-aa22"));
  EXPECT_THAT(Selected("GPU-aa"), IsEmpty());
  EXPECT_EQ(SelectGpus(FourGpus(), "GPU-aa").unknown, "GPU-aa");
}

TEST(SelectGpus, AWholePartitionedGpuStandsForItsFirstPart) {
  EXPECT_THAT(Selected("2"), ElementsAre("MIG-cc1"));
  EXPECT_THAT(Selected("GPU-bb33"), ElementsAre("MIG-cc1"));
}

TEST(SelectGpus, AnUnknownEntryEndsTheListAndIsTold) {
  EXPECT_THAT(Selected("0,4,1"), ElementsAre("GPU-aa11"));
  EXPECT_EQ(SelectGpus(FourGpus(), "0,4,1").unknown, "4");
  EXPECT_EQ(SelectGpus(FourGpus(), "0,99999999999").unknown, "99999999999");
  EXPECT_EQ(SelectGpus(FourGpus(), "0, two").unknown, "two");
}

TEST(SelectGpus, NoneMayBeSelectedWithoutAComplaint) {
  for (const char* none : {"", "-1", " "}) {
    EXPECT_THAT(Selected(none), IsEmpty()) << none;
    EXPECT_EQ(SelectGpus(FourGpus(), none).unknown, "") << none;
  }
}

TEST(SelectGpus, NumbersAreCudasWhereGpusDifferAndNoOrderIsAskedFor) {
  const std::vector<Gpu> alike = {{.uuid = "GPU-a", .compute_capability = 90},
                                  {.uuid = "GPU-b", .compute_capability = 90}};
  const std::vector<Gpu> unlike = {{.uuid = "GPU-a", .compute_capability = 90},
                                   {.uuid = "GPU-b", .compute_capability = 100}};
  EXPECT_TRUE(NumbersAreCudas(unlike, "0", ""));
  EXPECT_TRUE(NumbersAreCudas(unlike, "GPU-a, 1", "FASTEST_FIRST"));
  EXPECT_FALSE(NumbersAreCudas(unlike, "0", "PCI_BUS_ID"));
  EXPECT_FALSE(NumbersAreCudas(unlike, "GPU-b,GPU-a", ""));
  EXPECT_FALSE(NumbersAreCudas(unlike, std::nullopt, ""));
  EXPECT_FALSE(NumbersAreCudas(alike, "1", ""));
  EXPECT_FALSE(NumbersAreCudas({}, "1", ""));
  EXPECT_FALSE(NumbersAreCudas(unlike, "", ""));
  EXPECT_FALSE(NumbersAreCudas(unlike, "-1", ""));
  std::vector<Gpu> one_is_lost = alike;
  one_is_lost.push_back({.problem = "GPU is lost"});
  EXPECT_FALSE(NumbersAreCudas(one_is_lost, "0,1", ""));
}

TEST(SelectGpus, OneGpuIsNotGivenTwice) { EXPECT_THAT(Selected("0,GPU-aa11,0"), ElementsAre("GPU-aa11")); }

}  // namespace
}  // namespace rekindle::gpus
