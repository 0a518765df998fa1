#include "kernels/cuda/scale_to_bf16.h"

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/vector/bfloat16_element.h"

namespace rekindle::cuda {
namespace {

__global__ void ScaleToBf16Kernel(const float* in, std::uint16_t* out, std::size_t n, float scale) {
  EachElement(n, [&](std::size_t i) { out[i] = common::ToBf16(in[i] * scale); });
}

}  // namespace

cudaError_t ScaleToBf16(const float* in, std::uint16_t* out, std::size_t n, float scale, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  ScaleToBf16Kernel<<<BlocksFor(n), kThreads, 0, stream>>>(in, out, n, scale);
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
