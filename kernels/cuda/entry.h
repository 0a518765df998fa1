// Makes the entries of the plugin's tables of kernels. This is internal to the plugin.
#ifndef REKINDLE_KERNELS_CUDA_ENTRY_H_
#define REKINDLE_KERNELS_CUDA_ENTRY_H_

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/cuda/device_memory.h"

namespace rekindle::cuda {

// Is an entry that launches a kernel. `kName` names the kernel in messages.
template <const char* kName, typename Arguments, cudaError_t (*kLaunch)(const Arguments&, cudaStream_t)>
int Entry(const Arguments* arguments, void* stream, char* error, std::size_t error_size) {
  const cudaError_t code = kLaunch(*arguments, static_cast<cudaStream_t>(stream));
  if (code == cudaSuccess) return 0;
  (void)Fail(kName, code, error, error_size);
  return static_cast<int>(code);
}

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_ENTRY_H_
