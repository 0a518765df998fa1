// Launches kernels that cut float32 arrays in device memory into 16-bit planes and merge them again, with the same bits
// as kernels/planes/plane_split.h. The functions are asynchronous on the stream, and each returns the error of the
// launch. The element functions are those of kernels/planes/plane_element.h.
#ifndef REKINDLE_KERNELS_CUDA_PLANES_CUDA_PLANE_SPLIT_H_
#define REKINDLE_KERNELS_CUDA_PLANES_CUDA_PLANE_SPLIT_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/plugin_api.h"

namespace rekindle::cuda {

cudaError_t SplitHalf(const float* x, std::size_t n, std::uint16_t* half, std::int8_t* exponent, std::int16_t* residual,
                      std::uint32_t first_index, const RekindleCudaPlaneCounts& counts, cudaStream_t stream);
cudaError_t MergeHalf(const std::uint16_t* half, const std::int8_t* exponent, const std::int16_t* residual,
                      std::size_t n, float* x, cudaStream_t stream);
cudaError_t SplitBf16(const float* x, std::size_t n, std::uint16_t* high, std::uint16_t* low, std::uint64_t* nonfinite,
                      cudaStream_t stream);
cudaError_t MergeBf16(const std::uint16_t* high, const std::uint16_t* low, std::size_t n, float* x,
                      cudaStream_t stream);

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_PLANES_CUDA_PLANE_SPLIT_H_
