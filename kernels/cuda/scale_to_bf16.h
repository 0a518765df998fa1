// Launches a kernel that scales by a factor and rounds to bfloat16.
#ifndef REKINDLE_KERNELS_CUDA_SCALE_TO_BF16_H_
#define REKINDLE_KERNELS_CUDA_SCALE_TO_BF16_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace rekindle::cuda {

// Sets out[i] = common::ToBf16(in[i] * scale) in device memory, asynchronously on the stream. Returns the error of the
// launch.
cudaError_t ScaleToBf16(const float* in, std::uint16_t* out, std::size_t n, float scale, cudaStream_t stream);

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_SCALE_TO_BF16_H_
