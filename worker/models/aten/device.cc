#include "worker/models/declared/compute_device.h"

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <dlfcn.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "worker/contract/out_of_memory.h"

namespace rekindle::models {

absl::Status LoadCuda(bool repeatable) {
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
  at::Context& context = at::globalContext();
  try {
    context.lazyInitDevice(c10::DeviceType::CUDA);
  } catch (const std::exception& error) {
    return train::FromException(error);
  }
  // With `warn_only` LibTorch would only warn that the backward of attention is not repeatable.
  context.setDeterministicAlgorithms(repeatable, /*warn_only=*/false);
  context.setDeterministicCuDNN(repeatable);
  context.setBenchmarkCuDNN(false);
  // LibTorch would otherwise fill each new tensor with NaN when algorithms are deterministic, on the processor as well.
  // Such a fill costs as much as a copy and is of no use, because models write all that they read.
  context.setDeterministicFillUninitializedMemory(false);
  context.setFloat32MatmulPrecision("highest");
  context.setAllowTF32CuBLAS(false);
  context.setAllowTF32CuDNN(false);
  return absl::OkStatus();
}

GpuMemory MemoryOfGpu() {
  c10::DeviceAllocator* allocator = c10::getDeviceAllocator(c10::DeviceType::CUDA);
  const auto [free, total] = allocator->getMemoryInfo(0);
  const auto reserved = allocator->getDeviceStats(0).reserved_bytes;
  constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return {.total = static_cast<double>(total),
          .used = static_cast<double>(total - free),
          .peak = static_cast<double>(reserved[kAll].peak)};
}

void ReleaseGpuCache() {
  if (!at::globalContext().hasCUDA()) return;
  c10::DeviceAllocator* allocator = c10::getDeviceAllocator(c10::DeviceType::CUDA);
  if (allocator->initialized()) allocator->emptyCache();
}

}  // namespace rekindle::models
