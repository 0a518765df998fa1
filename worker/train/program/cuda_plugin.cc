#include "worker/train/program/cuda_plugin.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace rekindle::train {
namespace fs = std::filesystem;

absl::Status CudaPlugin::Probe() const {
  char error[512] = "";
  if (api_->probe(error, sizeof(error)) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the GPU does not pass the plugin's probe: ", error,
                                                    "; trainers stay on the CPU; update the driver to use it"));
}

std::string DefaultCudaPluginPath() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return (program.parent_path() / "librekindle_cuda.so").string();
}

absl::Status CheckGpuPresent(const std::string& root) {
  std::error_code error;
  if (!fs::exists(fs::path(root) / "proc/driver/nvidia/version", error)) {
    return absl::FailedPreconditionError(
        "no GPU: the NVIDIA driver is not loaded (/proc/driver/nvidia/version is absent); trainers stay on the CPU");
  }
  for (const auto& entry : fs::directory_iterator(fs::path(root) / "dev", error)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > 6 && name.compare(0, 6, "nvidia") == 0 && name[6] >= '0' && name[6] <= '9') {
      return absl::OkStatus();
    }
  }
  return absl::FailedPreconditionError(
      "no GPU: the NVIDIA driver is loaded, but there is no /dev/nvidia0; trainers stay on the CPU; "
      "give the container access to a GPU to use it");
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
