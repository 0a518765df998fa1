// Makes the masks of dropout.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/step/cuda_kernels.h"
#include "kernels/vector/splitmix64.h"

namespace rekindle::cuda {
namespace {

__global__ void DropoutMaskKernel(RekindleDropoutMask args) {
  EachElement(args.n, [&](std::size_t i) {
    const std::uint64_t bits = kernels::RandomWord(args.key, i / 2);
    const auto half = static_cast<std::uint32_t>(i % 2 == 0 ? bits : bits >> 32);
    args.mask[i] = half < args.threshold ? 0.0f : args.kept;
  });
}

}  // namespace

cudaError_t DropoutMask(const RekindleDropoutMask& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  DropoutMaskKernel<<<BlocksFor(args.n), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
