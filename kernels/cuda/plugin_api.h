// Defines the C interface of librekindle_cuda.so, which is all that the trainer knows of CUDA. No CUDA header is needed
// to use it.
//
// The library exports one symbol, rekindle_cuda_api, which returns a table that lives as long as the library is loaded.
// Functions return 0 on success. Otherwise they write a NUL-terminated reason of at most error_size - 1 bytes to error.
// All functions are thread-safe and act on the calling thread's current device.
#ifndef REKINDLE_KERNELS_CUDA_PLUGIN_API_H_
#define REKINDLE_KERNELS_CUDA_PLUGIN_API_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device_api.h"
#include "kernels/layers/layer_table.h"
#include "kernels/table/kernel_table.h"

// RekindleNcclApi is defined in worker/comm/nccl/nccl_api.h.
struct RekindleNcclApi;

// The version of the plugin's table is raised with every change of the table. A loader refuses any other version.
inline constexpr std::uint32_t kRekindleCudaApiVersion = 8;
inline constexpr char kRekindleCudaApiSymbol[] = "rekindle_cuda_api";

struct RekindleCudaApi {
  std::uint32_t version;

  // Runs a kernel on the current device and compares its result with the CPU's, bit by bit. Success shows that driver,
  // device and plugin suit each other. It takes milliseconds once the device is initialised.
  int (*probe)(char* error, std::size_t error_size);

  // Sets out[i] = bfloat16(in[i] * scale), rounded to nearest even. `in` and `out` are device memory of n elements and
  // must not overlap. It is asynchronous on the given cudaStream_t. nullptr means the default stream.
  int (*scale_to_bf16)(const float* in, std::uint16_t* out, std::size_t n, float scale, void* stream, char* error,
                       std::size_t error_size);

  // `device` is the table of memory, queues, marks and copies.
  const RekindleCudaDevice* device;

  // `kernels` is the table of the kernels of a training step, and `layers` that of the kernels of a model's layers.
  const RekindleKernels* kernels;
  const RekindleLayers* layers;

  // `nccl` is the table of NCCL. It is null in a build without NCCL's header.
  const RekindleNcclApi* nccl;
};

using RekindleCudaApiFunction = const RekindleCudaApi* (*)();

#endif  // REKINDLE_KERNELS_CUDA_PLUGIN_API_H_
