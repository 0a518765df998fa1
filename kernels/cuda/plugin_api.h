// The C interface of librekindle_cuda.so: all that the trainer knows of CUDA. No CUDA header is needed to use it.
//
// The library exports one symbol, rekindle_cuda_api, which returns a table that lives as long as the library is loaded.
// Functions return 0 on success; otherwise they write a NUL-terminated reason of at most error_size - 1 bytes to error.
// All are thread-safe. They act on the calling thread's current device.
#ifndef REKINDLE_KERNELS_CUDA_PLUGIN_API_H_
#define REKINDLE_KERNELS_CUDA_PLUGIN_API_H_

#include <cstddef>
#include <cstdint>

// Raised with every change of the table; a loader refuses another version.
inline constexpr std::uint32_t kRekindleCudaApiVersion = 1;
inline constexpr char kRekindleCudaApiSymbol[] = "rekindle_cuda_api";

struct RekindleCudaApi {
  std::uint32_t version;

  // Runs a kernel on the current device and compares its result with the CPU's, bit by bit: driver, device and plugin
  // suit each other. Takes milliseconds once the device is initialised.
  int (*probe)(char* error, std::size_t error_size);

  // out[i] = bfloat16(in[i] * scale), rounded to nearest even; in and out are device memory of n elements and do not
  // overlap. Asynchronous on the given cudaStream_t (nullptr: the default stream).
  int (*scale_to_bf16)(const float* in, std::uint16_t* out, std::size_t n, float scale, void* stream, char* error,
                       std::size_t error_size);
};

using RekindleCudaApiFunction = const RekindleCudaApi* (*)();

#endif  // REKINDLE_KERNELS_CUDA_PLUGIN_API_H_
