// Converts float32 to and from bfloat16.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/step/cuda_kernels.h"
#include "kernels/vector/bfloat16_element.h"

namespace rekindle::cuda {
namespace {

__global__ void ToBf16Kernel(RekindleToBf16 args) {
  EachElement(args.n, [&](std::size_t i) { args.bf16[i] = common::ToBf16(args.values[i]); });
}

__global__ void FromBf16Kernel(RekindleFromBf16 args) {
  EachElement(args.n, [&](std::size_t i) { args.values[i] = common::FromBf16(args.bf16[i]); });
}

}  // namespace

cudaError_t ToBf16(const RekindleToBf16& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  ToBf16Kernel<<<BlocksFor(args.n), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t FromBf16(const RekindleFromBf16& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  FromBf16Kernel<<<BlocksFor(args.n), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
