// The C interface of librekindle_cuda.so: all that the trainer knows of CUDA. No CUDA header is needed to use it.
//
// The library exports one symbol, rekindle_cuda_api, which returns a table that lives as long as the library is loaded.
// Functions return 0 on success; otherwise they write a NUL-terminated reason of at most error_size - 1 bytes to error.
// All are thread-safe. They act on the calling thread's current device.
#ifndef REKINDLE_KERNELS_CUDA_PLUGIN_API_H_
#define REKINDLE_KERNELS_CUDA_PLUGIN_API_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/training_api.h"

struct RekindleNcclApi;  // worker/comm/nccl_api.h

// Raised with every change of the table; a loader refuses another version.
inline constexpr std::uint32_t kRekindleCudaApiVersion = 3;
inline constexpr char kRekindleCudaApiSymbol[] = "rekindle_cuda_api";

// Where split_half puts what it finds: device memory, whose counters the caller has set to 0.
struct RekindleCudaPlaneCounts {
  std::uint32_t* index;  // Of exceptions, in no order: to be sorted, with their bits, before they are stored.
  std::uint32_t* bits;
  std::uint32_t capacity;     // Exceptions beyond it are counted and not stored.
  std::uint32_t* exceptions;  // One counter.
  std::uint64_t* nonfinite;   // One counter, of NaN and infinities.
};

struct RekindleCudaApi {
  std::uint32_t version;

  // Runs a kernel on the current device and compares its result with the CPU's, bit by bit: driver, device and plugin
  // suit each other. Takes milliseconds once the device is initialised.
  int (*probe)(char* error, std::size_t error_size);

  // out[i] = bfloat16(in[i] * scale), rounded to nearest even; in and out are device memory of n elements and do not
  // overlap. Asynchronous on the given cudaStream_t (nullptr: the default stream).
  int (*scale_to_bf16)(const float* in, std::uint16_t* out, std::size_t n, float scale, void* stream, char* error,
                       std::size_t error_size);

  // kernels/plane_split.h, bit for bit, on device memory; asynchronous on the stream. residual and low may be nullptr.
  int (*split_half)(const float* x, std::size_t n, std::uint16_t* half, std::int8_t* exponent, std::int16_t* residual,
                    std::uint32_t first_index, const RekindleCudaPlaneCounts* counts, void* stream, char* error,
                    std::size_t error_size);
  int (*merge_half)(const std::uint16_t* half, const std::int8_t* exponent, const std::int16_t* residual, std::size_t n,
                    float* x, void* stream, char* error, std::size_t error_size);
  int (*split_bf16)(const float* x, std::size_t n, std::uint16_t* high, std::uint16_t* low, std::uint64_t* nonfinite,
                    void* stream, char* error, std::size_t error_size);
  int (*merge_bf16)(const std::uint16_t* high, const std::uint16_t* low, std::size_t n, float* x, void* stream,
                    char* error, std::size_t error_size);

  // The kernels of a training step.
  const RekindleCudaTraining* training;

  // NCCL, for comm::ConnectNccl; null in a build without its header.
  const RekindleNcclApi* nccl;
};

using RekindleCudaApiFunction = const RekindleCudaApi* (*)();

#endif  // REKINDLE_KERNELS_CUDA_PLUGIN_API_H_
