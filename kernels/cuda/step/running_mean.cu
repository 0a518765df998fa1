// Moves running means towards the mean of a step.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/step/cuda_kernels.h"
#include "kernels/sums/fixed_point_convert.h"
#include "kernels/sums/running_mean_element.h"

namespace rekindle::cuda {
namespace {

__global__ void RunningMeanKernel(RekindleRunningMean args) {
  EachElement(args.n, [&](std::size_t i) {
    const double sum =
        args.fixed != nullptr ? kernels::FixedToDouble(args.fixed[i]) * args.unit : static_cast<double>(args.values[i]);
    args.mean[i] = kernels::MovedMean(args.mean[i], sum, args.count, args.rate);
  });
}

}  // namespace

cudaError_t RunningMean(const RekindleRunningMean& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  RunningMeanKernel<<<BlocksFor(args.n), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
