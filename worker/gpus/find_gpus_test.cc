#include "worker/gpus/find_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "common/process/command.h"
#include "worker/gpus/nvml.h"

namespace rekindle::gpus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns what the command that lists GPUs prints, its log included, if the libraries in `drivers` are the driver.
std::string Listed(const std::vector<std::string>& drivers, const std::vector<std::string>& settings,
                   double limit_seconds = 10) {
  std::string path = "LD_LIBRARY_PATH=";
  for (const std::string& driver : drivers) path += std::string(FAKE_DRIVER) + "/" + driver + ":";
  std::vector<std::string> environment = settings;
  environment.push_back(path);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "list_gpus";
  const auto listed =
      common::RunCommand({.argv = {program}, .environment = environment, .limit_seconds = limit_seconds});
  return listed.ok() ? *listed : std::string(listed.status().message());
}

// Returns the GPUs in the last line of a command's output, which comes after what the command has logged.
std::vector<Gpu> Parsed(const std::string& output) {
  const size_t end = output.find_last_not_of('\n');
  const size_t begin = output.rfind('\n', end);
  return GpusFromJson(output.substr(begin == std::string::npos ? 0 : begin + 1)).value_or(std::vector<Gpu>());
}

constexpr char kTwo[] = "REKINDLE_FAKE_NVML=GPU-a,90,85899345920;GPU-b,80,42949672960";

TEST(FindGpus, NvmlTellsOfEachGpuAndOfItsParts) {
  EXPECT_THAT(Parsed(Listed({"fake_nvml"}, {kTwo})),
              ElementsAre(Gpu{.uuid = "GPU-a", .compute_capability = 90, .memory_bytes = 80.0 * (1 << 30)},
                          Gpu{.uuid = "GPU-b", .compute_capability = 80, .memory_bytes = 40.0 * (1 << 30)}));
  EXPECT_THAT(Parsed(Listed({"fake_nvml"}, {"REKINDLE_FAKE_NVML=GPU-a,90,100;+MIG-1,0,50;+MIG-2,0,25"})),
              ElementsAre(Gpu{.uuid = "MIG-1", .compute_capability = 90, .memory_bytes = 50},
                          Gpu{.uuid = "MIG-2", .compute_capability = 90, .memory_bytes = 25}));
}

TEST(FindGpus, TheWorkersOwnVariableIsRespected) {
  EXPECT_THAT(Parsed(Listed({"fake_nvml"}, {kTwo, "CUDA_VISIBLE_DEVICES=1"})),
              ElementsAre(testing::Field(&Gpu::uuid, "GPU-b")));
  EXPECT_THAT(Parsed(Listed({"fake_nvml"}, {kTwo, "CUDA_VISIBLE_DEVICES="})), IsEmpty());
  const std::string wrong = Listed({"fake_nvml"}, {kTwo, "CUDA_VISIBLE_DEVICES=0,7"});
  EXPECT_THAT(Parsed(wrong), ElementsAre(testing::Field(&Gpu::uuid, "GPU-a")));
  EXPECT_THAT(wrong, HasSubstr("CUDA_VISIBLE_DEVICES names a GPU that this machine does not have"));
}

TEST(FindGpus, ALostGpuIsListedWithTheDriversWords) {
  const std::vector<Gpu> gpus = Parsed(Listed({"fake_nvml"}, {"REKINDLE_FAKE_NVML=lost;GPU-b,90,5"}));
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_THAT(gpus[0].problem, HasSubstr("GPU is lost"));
  EXPECT_EQ(gpus[1].problem, "");
}

TEST(FindGpus, ADriverThatDoesNotWorkIsToldInItsOwnWords) {
  const std::string broken = Listed({"fake_nvml"}, {"REKINDLE_FAKE_NVML=mismatch"});
  EXPECT_THAT(broken, HasSubstr("Driver/library version mismatch"));
  EXPECT_THAT(Parsed(broken), IsEmpty());
}

TEST(FindGpus, WithoutNvmlTheCudaDriverIsAsked) {
  if (!absl::IsNotFound(AskNvml().status())) GTEST_SKIP() << "this machine has NVML";
  const std::vector<Gpu> gpus = Parsed(Listed({"fake_cuda_driver"}, {"REKINDLE_FAKE_CUDA=2"}));
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].uuid, "GPU-10101010-1010-1010-1010-101010101010");
  EXPECT_EQ(gpus[1].compute_capability, 90);
  EXPECT_EQ(gpus[1].memory_bytes, 80.0 * (1 << 30));
  EXPECT_THAT(Listed({"fake_cuda_driver"}, {"REKINDLE_FAKE_CUDA=broken"}), HasSubstr("unknown error (CUDA 999)"));
}

TEST(FindGpus, ADriverThatIsTooOldIsToldWithWhatItLacks) {
  if (!absl::IsNotFound(AskNvml().status())) GTEST_SKIP() << "this machine has NVML";
  const std::string old = Listed({"old_cuda_driver"}, {});
  EXPECT_THAT(old, HasSubstr("the NVIDIA driver is too old: libcuda.so.1 has no function cuDeviceGetCount"));
  EXPECT_THAT(Parsed(old), IsEmpty());
}

TEST(FindGpus, ADriverThatHangsIsNotWaitedFor) {
  EXPECT_THAT(Listed({"fake_nvml"}, {"REKINDLE_FAKE_NVML=hang"}, 0.2), HasSubstr("did not end in"));
}

TEST(FindGpus, ADriverThatIsNotLoadedMeansNoGpus) {
  EXPECT_EQ(Listed({"fake_nvml", "fake_cuda_driver"}, {"REKINDLE_FAKE_NVML=unloaded", "REKINDLE_FAKE_CUDA=0"}),
            "{\"gpus\":[],\"problem\":\"\"}\n");
}

TEST(FindGpus, AProgramThatCannotBeRunIsNoMachineWithoutGpus) {
  const auto gpus = FindGpus("/nonexistent");
  EXPECT_EQ(gpus.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(gpus.status().message()), HasSubstr("was asked for its GPUs"));
}

TEST(GpusFromJson, KeepsWhatWasSaid) {
  const std::vector<Gpu> gpus = {{.uuid = "GPU-\"1", .compute_capability = 90, .memory_bytes = 1e11, .problem = "p"}};
  EXPECT_EQ(*GpusFromJson(ToJson(gpus)), gpus);
  EXPECT_THAT(*GpusFromJson(ToJson(absl::NotFoundError("no driver"))), IsEmpty());
  const auto broken = GpusFromJson(ToJson(absl::FailedPreconditionError("unknown error (CUDA 999)")));
  EXPECT_EQ(broken.status().message(), "unknown error (CUDA 999)");
}

TEST(GpusFromJson, RefusesNonsense) {
  for (const char* bad : {"", "{", "{}", "[]", "[1]", R"({"gpus":5})"}) {
    EXPECT_FALSE(GpusFromJson(bad).ok()) << bad;
  }
  for (const char* bad : {"{}", "1", R"({"uuid":"a","compute_capability":-1,"memory_bytes":1,"problem":""})",
                          R"({"uuid":"a","compute_capability":90,"memory_bytes":1e300,"problem":""})",
                          R"({"uuid":5,"compute_capability":90,"memory_bytes":1,"problem":""})"}) {
    const auto gpus = GpusFromJson(std::string(R"({"gpus":[)") + bad + "]}");
    ASSERT_TRUE(gpus.ok()) << bad;
    EXPECT_THAT(*gpus, IsEmpty()) << bad;
  }
}

}  // namespace
}  // namespace rekindle::gpus
