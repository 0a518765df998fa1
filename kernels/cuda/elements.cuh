// Runs the loop of a kernel over a flat array. Neighbouring threads take neighbouring elements. This is internal to the
// plugin.
#ifndef REKINDLE_KERNELS_CUDA_ELEMENTS_CUH_
#define REKINDLE_KERNELS_CUDA_ELEMENTS_CUH_

#include <cstddef>

namespace rekindle::cuda {

template <typename Body>
__device__ void EachElement(std::size_t n, Body body) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) body(i);
}

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_ELEMENTS_CUH_
