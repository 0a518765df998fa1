#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/layers/cuda_layers.h"
#include "kernels/vector/scalar_math.h"

namespace rekindle::cuda {
namespace {

__global__ void ForwardKernel(RekindleGeluForward args) {
  EachElement(args.n, [&](std::size_t i) {
    const kernels::scalar::ValueAndSlope gelu = kernels::scalar::Gelu(args.x[i]);
    args.out[i] = gelu.value;
    args.slope[i] = gelu.slope;
  });
}

__global__ void BackwardKernel(RekindleGeluBackward args) {
  EachElement(args.n, [&](std::size_t i) { args.dx[i] = args.dy[i] * args.slope[i]; });
}

}  // namespace

cudaError_t GeluForward(const RekindleGeluForward& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  ForwardKernel<<<BlocksFor(args.n), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t GeluBackward(const RekindleGeluBackward& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  BackwardKernel<<<BlocksFor(args.n), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
