// Launches the kernels of a training step, which have one file each. The functions are asynchronous on the stream, and
// each returns the error of its launch.
#ifndef REKINDLE_KERNELS_CUDA_TRAINING_H_
#define REKINDLE_KERNELS_CUDA_TRAINING_H_

#include <cuda_runtime_api.h>

#include "kernels/cuda/training_api.h"

namespace rekindle::cuda {

cudaError_t Accumulate(const RekindleCudaAccumulate& args, cudaStream_t stream);
cudaError_t Norm(const RekindleCudaNorm& args, cudaStream_t stream);
cudaError_t Adamw(const RekindleCudaAdamw& args, cudaStream_t stream);
cudaError_t LayerNormForward(const RekindleCudaLayerNormForward& args, cudaStream_t stream);
cudaError_t LayerNormBackward(const RekindleCudaLayerNormBackward& args, cudaStream_t stream);
cudaError_t GeluForward(const RekindleCudaGeluForward& args, cudaStream_t stream);
cudaError_t GeluBackward(const RekindleCudaGeluBackward& args, cudaStream_t stream);
cudaError_t CrossEntropy(const RekindleCudaCrossEntropy& args, cudaStream_t stream);

// `kTraining` is the part of the plugin's table with the kernels of a training step.
extern const RekindleCudaTraining kTraining;

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_TRAINING_H_
