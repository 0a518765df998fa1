// Launches the kernels of a model's layers, which have one file each. The functions are asynchronous on the stream, and
// each returns the error of its launch.
#ifndef REKINDLE_KERNELS_CUDA_LAYERS_CUDA_LAYERS_H_
#define REKINDLE_KERNELS_CUDA_LAYERS_CUDA_LAYERS_H_

#include <cuda_runtime_api.h>

#include "kernels/layers/layer_table.h"

namespace rekindle::cuda {

cudaError_t LayerNormForward(const RekindleLayerNormForward& args, cudaStream_t stream);
cudaError_t LayerNormBackward(const RekindleLayerNormBackward& args, cudaStream_t stream);
cudaError_t GeluForward(const RekindleGeluForward& args, cudaStream_t stream);
cudaError_t GeluBackward(const RekindleGeluBackward& args, cudaStream_t stream);
cudaError_t CrossEntropy(const RekindleCrossEntropy& args, cudaStream_t stream);

// `kLayers` is the plugin's table of the kernels of a model's layers.
extern const RekindleLayers kLayers;

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_LAYERS_CUDA_LAYERS_H_
