// Makes the entries of the plugin's table for the kernels of a training step.
#include "kernels/cuda/training.h"

#include "kernels/cuda/device_memory.h"

namespace rekindle::cuda {
namespace {

template <const char* kName, typename Args, cudaError_t (*kLaunch)(const Args&, cudaStream_t)>
int Entry(const Args* args, void* stream, char* error, std::size_t error_size) {
  const cudaError_t code = kLaunch(*args, static_cast<cudaStream_t>(stream));
  return code == cudaSuccess ? 0 : Fail(kName, code, error, error_size);
}

constexpr char kAccumulate[] = "accumulate";
constexpr char kNorm[] = "norm";
constexpr char kAdamw[] = "adamw";
constexpr char kLayerNormForward[] = "layer_norm_forward";
constexpr char kLayerNormBackward[] = "layer_norm_backward";
constexpr char kGeluForward[] = "gelu_forward";
constexpr char kGeluBackward[] = "gelu_backward";
constexpr char kCrossEntropy[] = "cross_entropy";

}  // namespace

constexpr RekindleCudaTraining kTraining = {
    .accumulate = &Entry<kAccumulate, RekindleCudaAccumulate, &Accumulate>,
    .norm = &Entry<kNorm, RekindleCudaNorm, &Norm>,
    .adamw = &Entry<kAdamw, RekindleCudaAdamw, &Adamw>,
    .layer_norm_forward = &Entry<kLayerNormForward, RekindleCudaLayerNormForward, &LayerNormForward>,
    .layer_norm_backward = &Entry<kLayerNormBackward, RekindleCudaLayerNormBackward, &LayerNormBackward>,
    .gelu_forward = &Entry<kGeluForward, RekindleCudaGeluForward, &GeluForward>,
    .gelu_backward = &Entry<kGeluBackward, RekindleCudaGeluBackward, &GeluBackward>,
    .cross_entropy = &Entry<kCrossEntropy, RekindleCudaCrossEntropy, &CrossEntropy>,
};

}  // namespace rekindle::cuda
