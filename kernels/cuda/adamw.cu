// Clips, does the AdamW step and casts to 16 bits in one pass over a parameter.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/half_bits.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/training.h"
#include "kernels/optimizers/adamw_element.h"
#include "kernels/sums/scaled_gradient.h"

namespace rekindle::cuda {
namespace {

template <typename Gradient, typename Scale>
__global__ void AdamwKernel(RekindleCudaAdamw args, const Gradient* gradient, double unit) {
  if (args.step->found_inf != 0) return;
  const Scale scale = static_cast<Scale>(args.step->scale * unit);
  EachElement(args.n, [&](std::size_t i) {
    const kernels::AdamwElement e =
        kernels::UpdateElement(args.factors, kernels::Scaled(gradient[i], scale),
                               {args.weights[i], args.first_moment[i], args.second_moment[i]});
    args.weights[i] = e.weight;
    args.first_moment[i] = e.first;
    args.second_moment[i] = e.second;
    if (args.bf16 != nullptr) args.bf16[i] = Bf16Bits(e.weight);
    if (args.fp16 != nullptr) args.fp16[i] = Fp16Bits(e.weight);
  });
}

}  // namespace

cudaError_t Adamw(const RekindleCudaAdamw& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  if (args.fixed != nullptr) {
    AdamwKernel<std::int64_t, double><<<BlocksFor(args.n), kThreads, 0, stream>>>(args, args.fixed, args.unit);
  } else {
    AdamwKernel<float, float><<<BlocksFor(args.n), kThreads, 0, stream>>>(args, args.values, 1);
  }
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
