// Scales by a factor and rounds to bfloat16: the kernel's launch, and the element function that CPU and GPU share.
#ifndef REKINDLE_KERNELS_CUDA_SCALE_TO_BF16_H_
#define REKINDLE_KERNELS_CUDA_SCALE_TO_BF16_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rekindle::cuda {

// bfloat16 bits of x, rounded to nearest even; a NaN stays a (quiet) NaN.
__host__ __device__ inline std::uint16_t Bf16Bits(float x) {
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// out[i] = Bf16Bits(in[i] * scale) in device memory, asynchronous on the stream. Returns the launch's error.
cudaError_t ScaleToBf16(const float* in, std::uint16_t* out, std::size_t n, float scale, cudaStream_t stream);

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_SCALE_TO_BF16_H_
