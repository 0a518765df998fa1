#include "kernels/cuda/layers/cuda_layers.h"

#include "kernels/cuda/entry.h"

namespace rekindle::cuda {
namespace {

constexpr char kLayerNormForward[] = "layer_norm_forward";
constexpr char kLayerNormBackward[] = "layer_norm_backward";
constexpr char kGeluForward[] = "gelu_forward";
constexpr char kGeluBackward[] = "gelu_backward";
constexpr char kCrossEntropy[] = "cross_entropy";

}  // namespace

constexpr RekindleLayers kLayers = {
    .layer_norm_forward = &Entry<kLayerNormForward, RekindleLayerNormForward, &LayerNormForward>,
    .layer_norm_backward = &Entry<kLayerNormBackward, RekindleLayerNormBackward, &LayerNormBackward>,
    .gelu_forward = &Entry<kGeluForward, RekindleGeluForward, &GeluForward>,
    .gelu_backward = &Entry<kGeluBackward, RekindleGeluBackward, &GeluBackward>,
    .cross_entropy = &Entry<kCrossEntropy, RekindleCrossEntropy, &CrossEntropy>,
};

}  // namespace rekindle::cuda
