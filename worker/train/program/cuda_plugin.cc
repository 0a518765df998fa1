#include "worker/train/program/cuda_plugin.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "worker/gpus/cuda_driver.h"

namespace rekindle::train {
namespace fs = std::filesystem;

absl::Status CudaPlugin::Probe() const {
  char error[512] = "";
  if (api_->probe(error, sizeof(error)) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the GPU does not pass the plugin's probe: ", error,
                                                    "; update the driver, or start the worker with --device cpu"));
}

std::string DefaultCudaPluginPath() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return (program.parent_path() / "librekindle_cuda.so").string();
}

absl::Status CheckGpuPresent() {
  const auto gpus = gpus::AskCudaDriver();
  if (gpus.ok() && !gpus->empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("no GPU: ", gpus.ok() ? "the CUDA driver lists none" : std::string(gpus.status().message()),
                   "; give the machine or the container access to one, or start the worker with --device cpu"));
}

absl::StatusOr<CudaPlugin> OpenCudaPlugin(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return absl::UnimplementedError(
        absl::StrCat("this build has no CUDA plugin (", path, " is absent); build it by scripts/bootstrap"));
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("the CUDA plugin cannot be loaded: ", dlerror()));
  }
  auto function = reinterpret_cast<RekindleCudaApiFunction>(dlsym(library, kRekindleCudaApiSymbol));
  if (function == nullptr || function()->version != kRekindleCudaApiVersion) {
    dlclose(library);
    return absl::FailedPreconditionError(absl::StrCat(path, " is not a CUDA plugin of version ",
                                                      kRekindleCudaApiVersion, "; build it with the trainer"));
  }
  return CudaPlugin(function());
}

absl::StatusOr<CudaPlugin> LoadCudaPlugin(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error)) {
    if (absl::Status status = CheckGpuPresent(); !status.ok()) return status;
  }
  absl::StatusOr<CudaPlugin> plugin = OpenCudaPlugin(path);
  if (!plugin.ok()) return plugin;
  if (absl::Status status = plugin->Probe(); !status.ok()) return status;
  return plugin;
}

}  // namespace rekindle::train
