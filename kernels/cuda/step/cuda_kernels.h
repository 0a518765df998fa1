// Launches the kernels of a training step, which have one file each. The functions are asynchronous on the stream, and
// each returns the error of its launch.
#ifndef REKINDLE_KERNELS_CUDA_STEP_CUDA_KERNELS_H_
#define REKINDLE_KERNELS_CUDA_STEP_CUDA_KERNELS_H_

#include <cuda_runtime_api.h>

#include "kernels/table/kernel_table.h"

namespace rekindle::cuda {

cudaError_t Copy(const RekindleCopy& args, cudaStream_t stream);
cudaError_t Fill(const RekindleFill& args, cudaStream_t stream);
cudaError_t Accumulate(const RekindleAccumulate& args, cudaStream_t stream);
cudaError_t Squares(const RekindleSquares& args, cudaStream_t stream);
cudaError_t Update(const RekindleUpdate& args, cudaStream_t stream);
cudaError_t RunningMean(const RekindleRunningMean& args, cudaStream_t stream);
cudaError_t ToBf16(const RekindleToBf16& args, cudaStream_t stream);
cudaError_t FromBf16(const RekindleFromBf16& args, cudaStream_t stream);
cudaError_t Hash(const RekindleHash& args, cudaStream_t stream);
cudaError_t DropoutMask(const RekindleDropoutMask& args, cudaStream_t stream);

#define REKINDLE_DECLARE(Name) cudaError_t Update##Name(const RekindleUpdate& args, cudaStream_t stream);
REKINDLE_ELEMENTWISE_OPTIMIZERS(REKINDLE_DECLARE)
#undef REKINDLE_DECLARE

// `kKernels` is the plugin's table of the kernels of a training step.
extern const RekindleKernels kKernels;

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_STEP_CUDA_KERNELS_H_
