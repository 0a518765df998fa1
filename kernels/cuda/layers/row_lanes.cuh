// Lets sixteen threads take a row, one for each lane of the CPU's vectors (kernels/vector/vector_math.h). Thread j has
// elements j, j + 16, j + 32, ... of the row in that order, and lanes are joined in pairs 8, 4, 2 and 1 apart. So a
// row's sums have the CPU's bits. A warp takes two rows, each of which is read in whole sectors of memory. This is
// internal to the plugin.
#ifndef REKINDLE_KERNELS_CUDA_LAYERS_ROW_LANES_CUH_
#define REKINDLE_KERNELS_CUDA_LAYERS_ROW_LANES_CUH_

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/launch.h"

namespace rekindle::cuda {

constexpr int kRowLanes = 16;
constexpr unsigned kRowsPerBlock = kThreads / kRowLanes;

class RowLanes {
 public:
  __device__ RowLanes() : lane_(threadIdx.x % kRowLanes), mask_(0xffffu << (threadIdx.x & 16u)) {}

  __device__ int lane() const { return lane_; }

  // Calls body(row) for each row that the sixteen threads of this group take.
  template <typename Body>
  __device__ void EachRow(std::int64_t rows, Body body) const {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kRowsPerBlock;
    for (std::int64_t r = static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / kRowLanes; r < rows;
         r += stride) {
      body(r);
    }
  }

  // Returns the sum over the group's lanes, which is the same in all lanes because addition is commutative.
  __device__ float Sum(float of_lane) const {
#pragma unroll
    for (int width = kRowLanes / 2; width > 0; width /= 2) of_lane += __shfl_xor_sync(mask_, of_lane, width);
    return of_lane;
  }
  // Returns the largest value of the group's lanes, and ignores NaN.
  __device__ float Largest(float of_lane) const {
#pragma unroll
    for (int width = kRowLanes / 2; width > 0; width /= 2) {
      const float other = __shfl_xor_sync(mask_, of_lane, width);
      of_lane = other > of_lane ? other : of_lane;
    }
    return of_lane;
  }
  __device__ bool Any(bool of_lane) const { return __any_sync(mask_, of_lane) != 0; }

 private:
  const int lane_;
  const unsigned mask_;
};

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_LAYERS_ROW_LANES_CUH_
