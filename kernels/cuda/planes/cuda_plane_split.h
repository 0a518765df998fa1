// Launches kernels that cut float32 arrays in device memory into 16-bit planes and merge them again, with the same bits
// as kernels/planes/plane_split.h. The functions are asynchronous on the stream, and each returns the error of the
// launch. The element functions are those of kernels/planes/plane_element.h.
#ifndef REKINDLE_KERNELS_CUDA_PLANES_CUDA_PLANE_SPLIT_H_
#define REKINDLE_KERNELS_CUDA_PLANES_CUDA_PLANE_SPLIT_H_

#include <cuda_runtime_api.h>

#include "kernels/planes/plane_arguments.h"

namespace rekindle::cuda {

cudaError_t SplitHalf(const RekindleSplitHalf& args, cudaStream_t stream);
cudaError_t MergeHalf(const RekindleMergeHalf& args, cudaStream_t stream);
cudaError_t SplitBf16(const RekindleSplitBf16& args, cudaStream_t stream);
cudaError_t MergeBf16(const RekindleMergeBf16& args, cudaStream_t stream);

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_PLANES_CUDA_PLANE_SPLIT_H_
