#include "kernels/cuda/planes/cuda_plane_split.h"

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/planes/plane_element.h"

namespace rekindle::cuda {
namespace {

using namespace rekindle::kernels;

constexpr std::size_t kPlane = kPlaneBlock;

__device__ void Count(std::uint64_t* counter) { atomicAdd(reinterpret_cast<unsigned long long*>(counter), 1ull); }

__device__ bool IsFinite(std::uint32_t bits) { return (bits & kMagnitudeMask) < kInfinity32; }

// Splits float32 elements into FP16 planes. A thread block takes `kPlane` elements, which share an exponent, at a time.
// It first finds their largest magnitude and then splits them.
__global__ void SplitHalfKernel(RekindleSplitHalf args) {
  __shared__ unsigned largest;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kPlane;
  for (std::size_t begin = blockIdx.x * kPlane; begin < args.n; begin += stride) {
    const std::size_t end = min(args.n, begin + kPlane);
    if (threadIdx.x == 0) largest = 0;
    __syncthreads();
    unsigned mine = 0;
    for (std::size_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      const std::uint32_t bits = FloatBits(args.x[i]);
      if (IsFinite(bits)) {
        mine = max(mine, bits & kMagnitudeMask);
      } else {
        Count(args.nonfinite);
      }
    }
    atomicMax(&largest, mine);
    __syncthreads();
    const int exponent = PlaneExponent(largest);
    if (threadIdx.x == 0) args.exponent[begin / kPlane] = static_cast<std::int8_t>(exponent);
    for (std::size_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      const std::uint32_t bits = FloatBits(args.x[i]);
      args.half[i] = HalfFromFloat(bits, exponent);
      if (args.residual == nullptr) continue;
      args.residual[i] = PlaneResidual(bits, args.half[i], exponent);
      if (args.residual[i] != kPlaneException) continue;
      const std::uint32_t at = atomicAdd(args.exceptions, 1u);
      if (at < args.capacity) {
        args.index[at] = static_cast<std::uint32_t>(i);
        args.bits[at] = bits;
      }
    }
    // All threads must have read `largest` before the thread block resets it for its next plane block.
    __syncthreads();
  }
}

__global__ void MergeHalfKernel(RekindleMergeHalf args) {
  EachElement(args.n, [&](std::size_t i) {
    const std::int16_t rest = args.residual == nullptr ? std::int16_t{0} : args.residual[i];
    args.x[i] = FloatFromBits(HalfJoin(args.half[i], args.exponent[i / kPlane], rest));
  });
}

__global__ void SplitBf16Kernel(RekindleSplitBf16 args) {
  EachElement(args.n, [&](std::size_t i) {
    const std::uint32_t bits = FloatBits(args.x[i]);
    if (!IsFinite(bits)) Count(args.nonfinite);
    args.high[i] = Bf16High(bits);
    if (args.low != nullptr) args.low[i] = Bf16Low(bits);
  });
}

__global__ void MergeBf16Kernel(RekindleMergeBf16 args) {
  EachElement(args.n, [&](std::size_t i) {
    args.x[i] = FloatFromBits(Bf16Join(args.high[i], args.low == nullptr ? std::uint16_t{0} : args.low[i]));
  });
}

}  // namespace

cudaError_t SplitHalf(const RekindleSplitHalf& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  SplitHalfKernel<<<BlocksFor(args.n, kPlane), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t MergeHalf(const RekindleMergeHalf& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  MergeHalfKernel<<<BlocksFor(args.n), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t SplitBf16(const RekindleSplitBf16& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  SplitBf16Kernel<<<BlocksFor(args.n), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

cudaError_t MergeBf16(const RekindleMergeBf16& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  MergeBf16Kernel<<<BlocksFor(args.n), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
