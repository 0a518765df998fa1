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
__global__ void SplitHalfKernel(const float* x, std::size_t n, std::uint16_t* half, std::int8_t* exponents,
                                std::int16_t* residual, std::uint32_t first_index, RekindleCudaPlaneCounts counts) {
  __shared__ unsigned largest;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kPlane;
  for (std::size_t begin = blockIdx.x * kPlane; begin < n; begin += stride) {
    const std::size_t end = min(n, begin + kPlane);
    if (threadIdx.x == 0) largest = 0;
    __syncthreads();
    unsigned mine = 0;
    for (std::size_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      const std::uint32_t bits = FloatBits(x[i]);
      if (IsFinite(bits)) {
        mine = max(mine, bits & kMagnitudeMask);
      } else {
        Count(counts.nonfinite);
      }
    }
    atomicMax(&largest, mine);
    __syncthreads();
    const int exponent = PlaneExponent(largest);
    if (threadIdx.x == 0) exponents[begin / kPlane] = static_cast<std::int8_t>(exponent);
    for (std::size_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      const std::uint32_t bits = FloatBits(x[i]);
      half[i] = HalfFromFloat(bits, exponent);
      if (residual == nullptr) continue;
      residual[i] = PlaneResidual(bits, half[i], exponent);
      if (residual[i] != kPlaneException) continue;
      const std::uint32_t at = atomicAdd(counts.exceptions, 1u);
      if (at < counts.capacity) {
        counts.index[at] = first_index + static_cast<std::uint32_t>(i);
        counts.bits[at] = bits;
      }
    }
    // All threads must have read `largest` before the thread block resets it for its next plane block.
    __syncthreads();
  }
}

__global__ void MergeHalfKernel(const std::uint16_t* half, const std::int8_t* exponents, const std::int16_t* residual,
                                std::size_t n, float* x) {
  EachElement(n, [&](std::size_t i) {
    const std::int16_t rest = residual == nullptr ? std::int16_t{0} : residual[i];
    x[i] = FloatFromBits(HalfJoin(half[i], exponents[i / kPlane], rest));
  });
}

__global__ void SplitBf16Kernel(const float* x, std::size_t n, std::uint16_t* high, std::uint16_t* low,
                                std::uint64_t* nonfinite) {
  EachElement(n, [&](std::size_t i) {
    const std::uint32_t bits = FloatBits(x[i]);
    if (!IsFinite(bits)) Count(nonfinite);
    high[i] = Bf16High(bits);
    if (low != nullptr) low[i] = Bf16Low(bits);
  });
}

__global__ void MergeBf16Kernel(const std::uint16_t* high, const std::uint16_t* low, std::size_t n, float* x) {
  EachElement(
      n, [&](std::size_t i) { x[i] = FloatFromBits(Bf16Join(high[i], low == nullptr ? std::uint16_t{0} : low[i])); });
}

}  // namespace

cudaError_t SplitHalf(const float* x, std::size_t n, std::uint16_t* half, std::int8_t* exponent, std::int16_t* residual,
                      std::uint32_t first_index, const RekindleCudaPlaneCounts& counts, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  SplitHalfKernel<<<BlocksFor(n, kPlane), kThreads, 0, stream>>>(x, n, half, exponent, residual, first_index, counts);
  return cudaGetLastError();
}

cudaError_t MergeHalf(const std::uint16_t* half, const std::int8_t* exponent, const std::int16_t* residual,
                      std::size_t n, float* x, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  MergeHalfKernel<<<BlocksFor(n), kThreads, 0, stream>>>(half, exponent, residual, n, x);
  return cudaGetLastError();
}

cudaError_t SplitBf16(const float* x, std::size_t n, std::uint16_t* high, std::uint16_t* low, std::uint64_t* nonfinite,
                      cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  SplitBf16Kernel<<<BlocksFor(n), kThreads, 0, stream>>>(x, n, high, low, nonfinite);
  return cudaGetLastError();
}

cudaError_t MergeBf16(const std::uint16_t* high, const std::uint16_t* low, std::size_t n, float* x,
                      cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  MergeBf16Kernel<<<BlocksFor(n), kThreads, 0, stream>>>(high, low, n, x);
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
