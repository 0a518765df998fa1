// Launches the update of an elementwise optimizer. This is internal to the plugin.
#ifndef REKINDLE_KERNELS_CUDA_STEP_UPDATE_CUH_
#define REKINDLE_KERNELS_CUDA_STEP_UPDATE_CUH_

#include <cuda_runtime_api.h>

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/optimizers/element.h"
#include "kernels/optimizers/update.h"
#include "kernels/sums/scaled_gradient.h"
#include "kernels/vector/bfloat16_element.h"
#include "kernels/vector/half_element.h"

namespace rekindle::cuda {

// `Factors` are those of the optimizer for a step, and UpdateElement(factors, gradient, element) computes an element.
template <typename Factors, typename Gradient, typename Scale>
__global__ void UpdateKernel(RekindleUpdate args, Factors factors, const Gradient* gradient, Scale scale) {
  EachElement(args.n, [&](std::size_t i) {
    const kernels::Element old = {args.weights[i], args.first_moment != nullptr ? args.first_moment[i] : 0,
                                  args.second_moment != nullptr ? args.second_moment[i] : 0};
    const kernels::Element e = UpdateElement(factors, kernels::Scaled(gradient[i], scale), old);
    if (args.new_weights != nullptr) args.new_weights[i] = e.weight;
    if (args.new_first_moment != nullptr) args.new_first_moment[i] = e.first;
    if (args.new_second_moment != nullptr) args.new_second_moment[i] = e.second;
    if (args.bf16 != nullptr) args.bf16[i] = common::ToBf16(e.weight);
    if (args.fp16 != nullptr) args.fp16[i] = kernels::ToFp16(e.weight);
  });
}

template <typename Factors>
cudaError_t LaunchUpdate(const RekindleUpdate& args, const Factors& factors, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  return kernels::WithGradient(args, [&](const auto* gradient, auto scale) {
    UpdateKernel<<<BlocksFor(args.n), kThreads, 0, stream>>>(args, factors, gradient, scale);
    return cudaGetLastError();
  });
}

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_STEP_UPDATE_CUH_
