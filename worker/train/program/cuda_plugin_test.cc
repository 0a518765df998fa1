#include "worker/train/program/cuda_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/testing/temporary_folder_testing.h"
#include "worker/comm/nccl/nccl_api.h"

namespace rekindle::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Provides a folder in which a test writes files. The folder is removed when the test ends.
class Folder {
 public:
  std::string Write(const std::string& name, const std::string& content) const {
    const std::string file = path() + "/" + name;
    fs::create_directories(fs::path(file).parent_path());
    std::ofstream(file) << content;
    return file;
  }
  const std::string& path() const { return temporary_.path(); }

 private:
  common::TemporaryFolder temporary_;
};

TEST(CudaPlugin, WithoutAGpuTheErrorSaysWhatToDo) {
  const absl::Status status = CheckGpuPresent();
  if (status.ok()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no GPU"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("--device cpu"));
}

TEST(CudaPlugin, BuildWithoutPluginIsUnimplemented) {
  auto plugin = LoadCudaPlugin("/nonexistent/librekindle_cuda.so");
  EXPECT_EQ(plugin.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(plugin.status().message()), HasSubstr("/nonexistent/librekindle_cuda.so"));
}

TEST(CudaPlugin, AnotherLibraryIsRefused) {
  Folder folder;
  auto plugin = OpenCudaPlugin(folder.Write("librekindle_cuda.so", "not a library"));
  EXPECT_EQ(plugin.status().code(), absl::StatusCode::kFailedPrecondition);
  plugin = OpenCudaPlugin("/proc/self/exe");
  EXPECT_EQ(plugin.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(CudaPlugin, BuiltPluginOpensEverywhereAndLoadsWhereAGpuIs) {
  const std::string path = DefaultCudaPluginPath();
  if (!fs::exists(path)) GTEST_SKIP() << "built without the CUDA wheels: " << path << " is absent";
  auto plugin = OpenCudaPlugin(path);
  ASSERT_TRUE(plugin.ok()) << plugin.status().ToString();
  EXPECT_EQ(plugin->api().version, kRekindleCudaApiVersion);
  EXPECT_NE(plugin->api().scale_to_bf16, nullptr);
  ASSERT_NE(plugin->api().kernels, nullptr);
  EXPECT_NE(plugin->api().kernels->hash, nullptr);
  ASSERT_NE(plugin->api().layers, nullptr);
  EXPECT_NE(plugin->api().layers->cross_entropy, nullptr);
  if (plugin->api().nccl != nullptr) {
    // On every machine the plugin must find the NCCL library that it was compiled for. Only joining ranks needs a GPU.
    unsigned char id[kRekindleNcclIdBytes];
    char error[256] = "";
    RekindleNcclComm* comm = nullptr;
    EXPECT_EQ(plugin->api().nccl->make_id(id, error, sizeof(error)), kRekindleNcclDone) << error;
    if (!CheckGpuPresent().ok()) {
      EXPECT_EQ(plugin->api().nccl->join(0, 1, 0, id, &comm, error, sizeof(error)), kRekindleNcclFailed);
      EXPECT_EQ(comm, nullptr);
      EXPECT_NE(std::string(error), "");
    }
  }

  auto loaded = LoadCudaPlugin(path);
  if (CheckGpuPresent().ok()) {
    EXPECT_TRUE(loaded.ok()) << loaded.status().ToString();
    return;
  }
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(loaded.status().message()), HasSubstr("no GPU"));
  absl::Status probe = plugin->Probe();
  EXPECT_EQ(probe.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(probe.message()), HasSubstr("no CUDA device answers"));
}

}  // namespace
}  // namespace rekindle::train
