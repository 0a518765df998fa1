#include "coordinator/core/choices/precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace rekindle::core {
namespace {

using ::testing::HasSubstr;

v1::Device Cpu(const std::vector<std::string>& units) {
  v1::Device device;
  device.set_kind("cpu");
  for (const std::string& unit : units) device.add_units(unit);
  return device;
}

v1::Device Cuda(int capability) {
  v1::Device device;
  device.set_kind("cuda");
  device.set_compute_capability(capability);
  return device;
}

const v1::Device kPlain = Cpu({});
const v1::Device kIceLake = Cpu({"avx512"});
const v1::Device kZen4 = Cpu({"avx512", "avx512_bf16"});
const v1::Device kSapphire = Cpu({"avx512", "avx512_bf16", "avx512_fp16", "amx_bf16"});

TEST(PrecisionTest, Float32IsFitForAll) {
  for (const v1::Device& device : {kPlain, kIceLake, kZen4, kSapphire, Cuda(60), v1::Device()}) {
    EXPECT_EQ(PrecisionFlaw(device, "fp32"), "");
  }
}

TEST(PrecisionTest, CpusAreToldApartByTheirUnits) {
  EXPECT_EQ(PrecisionFlaw(kSapphire, "bf16"), "");
  EXPECT_EQ(PrecisionFlaw(kSapphire, "fp16"), "");
  EXPECT_THAT(PrecisionFlaw(kZen4, "bf16"), HasSubstr("without AMX"));
  for (const v1::Device& device : {kPlain, kIceLake}) {
    EXPECT_THAT(PrecisionFlaw(device, "bf16"), HasSubstr("no instructions for BF16"));
  }
  for (const v1::Device& device : {kPlain, kIceLake, kZen4}) {
    EXPECT_THAT(PrecisionFlaw(device, "fp16"), HasSubstr("no instructions for FP16"));
  }
}

TEST(PrecisionTest, GpusAreToldApartByTheirCapability) {
  EXPECT_EQ(PrecisionFlaw(Cuda(80), "bf16"), "");
  EXPECT_EQ(PrecisionFlaw(Cuda(70), "fp16"), "");
  EXPECT_THAT(PrecisionFlaw(Cuda(75), "bf16"), HasSubstr("sm_75, which has no units for bf16: sm_80"));
  EXPECT_THAT(PrecisionFlaw(Cuda(61), "fp16"), HasSubstr("sm_61, which has no units for fp16: sm_70"));
}

TEST(PrecisionTest, AnUnknownDeviceIsGoodForFloat32Only) {
  EXPECT_THAT(PrecisionFlaw(v1::Device(), "bf16"), HasSubstr("not known"));
  EXPECT_EQ(ChoosePrecision({{"a", v1::Device()}}).precision, common::Precision::kFp32);
}

TEST(PrecisionTest, AutoTakesTheFastestThatAllNodesAreFitFor) {
  const auto chosen = [](const std::vector<v1::Device>& devices) {
    std::vector<std::pair<std::string, v1::Device>> nodes;
    for (const v1::Device& device : devices) nodes.emplace_back(absl::StrCat("n", nodes.size()), device);
    const PrecisionChoice choice = ChoosePrecision(nodes);
    EXPECT_EQ(choice.reason.substr(0, 4), common::WordOf(choice.precision));
    return common::WordOf(choice.precision);
  };
  EXPECT_EQ(chosen({kSapphire, kSapphire}), "bf16");
  EXPECT_EQ(chosen({kSapphire, kIceLake}), "fp32");
  EXPECT_EQ(chosen({Cuda(90), kSapphire}), "bf16");
  EXPECT_EQ(chosen({Cuda(90), Cuda(75)}), "fp16");
  // `auto` does not choose FP16 where a node computes on a CPU, as FP16 gains too little speed there for its risks.
  EXPECT_EQ(chosen({Cuda(75), kSapphire}), "fp32");
  EXPECT_EQ(chosen({Cuda(60)}), "fp32");
}

TEST(PrecisionTest, TheReasonNamesTheNodeThatForbidsIt) {
  EXPECT_THAT(ChoosePrecision({{"a", kSapphire}, {"b", kIceLake}}).reason, HasSubstr("node b: the CPU has no"));
}

}  // namespace
}  // namespace rekindle::core
