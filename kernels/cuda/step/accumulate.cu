// Unscales a gradient, adds it to a sum and finds its largest magnitude in one pass.
#include <cmath>

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/step/cuda_kernels.h"
#include "kernels/sums/fixed_point_convert.h"
#include "kernels/sums/magnitude.h"

namespace rekindle::cuda {
namespace {

// Raises `largest` to the largest magnitude of the warp. It is a maximum of integers, so its order does not matter.
// REQUIRES: whole warps call it.
__device__ void Raise(std::uint32_t* largest, std::int32_t bits) {
  constexpr unsigned kInfinityBits = 0x7f800000;
  const unsigned of_warp = __reduce_max_sync(0xffffffffu, min(static_cast<unsigned>(bits), kInfinityBits));
  if (threadIdx.x % 32 == 0) atomicMax(largest, of_warp);
}

__global__ void FloatKernel(RekindleAccumulate args) {
  std::int32_t largest = 0;
  EachElement(args.n, [&](std::size_t i) {
    const float g = args.gradient[i];
    largest = max(largest, kernels::MagnitudeBits(g));
    args.sum[i] = args.first != 0 ? g * args.factor : args.sum[i] + g * args.factor;
  });
  Raise(args.largest, largest);
}

__global__ void FixedKernel(RekindleAccumulate args, double scale) {
  // The fixed-point sum is unsigned, so that a sum that does not fit wraps, as on the CPU.
  auto* sum = reinterpret_cast<std::uint64_t*>(args.fixed);
  std::int32_t largest = 0;
  EachElement(args.n, [&](std::size_t i) {
    const float g = args.gradient[i];
    largest = max(largest, kernels::MagnitudeBits(g));
    const std::uint64_t rounded = kernels::RoundToFixed(static_cast<double>(g) * scale);
    sum[i] = args.first != 0 ? rounded : sum[i] + rounded;
  });
  Raise(args.largest, largest);
}

}  // namespace

cudaError_t Accumulate(const RekindleAccumulate& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  if (args.fixed != nullptr) {
    FixedKernel<<<BlocksFor(args.n), kThreads, 0, stream>>>(args, std::ldexp(1.0, args.exponent));
  } else {
    FloatKernel<<<BlocksFor(args.n), kThreads, 0, stream>>>(args);
  }
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
