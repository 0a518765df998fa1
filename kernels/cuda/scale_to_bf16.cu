#include "kernels/cuda/scale_to_bf16.h"

#include <algorithm>

namespace rekindle::cuda {
namespace {

constexpr unsigned kThreads = 256;
// Enough blocks to fill any device; each thread strides over what is left, so that n has no limit.
constexpr std::size_t kMaxBlocks = 4096;

__global__ void ScaleToBf16Kernel(const float* in, std::uint16_t* out, std::size_t n, float scale) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    out[i] = Bf16Bits(in[i] * scale);
  }
}

}  // namespace

cudaError_t ScaleToBf16(const float* in, std::uint16_t* out, std::size_t n, float scale, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(std::min(kMaxBlocks, (n + kThreads - 1) / kThreads));
  ScaleToBf16Kernel<<<blocks, kThreads, 0, stream>>>(in, out, n, scale);
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
