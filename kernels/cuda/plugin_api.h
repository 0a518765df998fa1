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
inline constexpr std::uint32_t kRekindleCudaApiVersion = 7;
inline constexpr char kRekindleCudaApiSymbol[] = "rekindle_cuda_api";

// Says where split_half puts its results. All pointers are to device memory, and the caller must have set the counters
// to 0.
struct RekindleCudaPlaneCounts {
  // `index` and `bits` list the exceptions (kernels/planes/plane_split.h) in no order. The caller has to sort both
  // together before it stores them.
  std::uint32_t* index;
  std::uint32_t* bits;
  // Exceptions beyond the capacity are counted but not stored.
  std::uint32_t capacity;
  // `exceptions` points to the number of exceptions.
  std::uint32_t* exceptions;
  // `nonfinite` points to the number of NaN and infinities.
  std::uint64_t* nonfinite;
};

struct RekindleCudaApi {
  std::uint32_t version;

  // Runs a kernel on the current device and compares its result with the CPU's, bit by bit. Success shows that driver,
  // device and plugin suit each other. It takes milliseconds once the device is initialised.
  int (*probe)(char* error, std::size_t error_size);

  // Sets out[i] = bfloat16(in[i] * scale), rounded to nearest even. `in` and `out` are device memory of n elements and
  // must not overlap. It is asynchronous on the given cudaStream_t. nullptr means the default stream.
  int (*scale_to_bf16)(const float* in, std::uint16_t* out, std::size_t n, float scale, void* stream, char* error,
                       std::size_t error_size);

  // split_half, merge_half, split_bf16 and merge_bf16 do what kernels/planes/plane_split.h does, bit for bit, on device
  // memory. They are asynchronous on the stream. `residual` and `low` may be nullptr.
  int (*split_half)(const float* x, std::size_t n, std::uint16_t* half, std::int8_t* exponent, std::int16_t* residual,
                    std::uint32_t first_index, const RekindleCudaPlaneCounts* counts, void* stream, char* error,
                    std::size_t error_size);
  int (*merge_half)(const std::uint16_t* half, const std::int8_t* exponent, const std::int16_t* residual, std::size_t n,
                    float* x, void* stream, char* error, std::size_t error_size);
  int (*split_bf16)(const float* x, std::size_t n, std::uint16_t* high, std::uint16_t* low, std::uint64_t* nonfinite,
                    void* stream, char* error, std::size_t error_size);
  int (*merge_bf16)(const std::uint16_t* high, const std::uint16_t* low, std::size_t n, float* x, void* stream,
                    char* error, std::size_t error_size);

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
