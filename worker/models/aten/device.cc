#include "worker/models/declared/device.h"

#include <ATen/Context.h>
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"

namespace rekindle::models {

absl::Status LoadCuda() {
  // The program is linked with LibTorch's CPU part alone, so that a machine without a GPU does not load a gigabyte of
  // GPU kernels.
  Dl_info cpu{};
  if (dladdr(reinterpret_cast<const void*>(&at::globalContext), &cpu) == 0 || cpu.dli_fname == nullptr) {
    return absl::FailedPreconditionError("LibTorch's own file is not known: its CUDA part cannot be found beside it");
  }
  const std::string path = std::filesystem::path(cpu.dli_fname).replace_filename("libtorch_cuda.so").string();
  // The results of cuBLAS are repeatable only if its streams do not share a workspace. cuBLAS reads the environment
  // variable CUBLAS_WORKSPACE_CONFIG when it is first used.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("LibTorch's CUDA part cannot be loaded: ", dlerror()));
  }
  if (!at::hasCUDA()) return absl::FailedPreconditionError("LibTorch finds no GPU that it can use");
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
  return absl::OkStatus();
}

}  // namespace rekindle::models
