// ResNet-18 and -50 (He et al., 2016) for 32 x 32 colour images: a 3 x 3 stem of stride 1 and no pooling before the
// four stages, as that paper does for CIFAR; the stages and their blocks as it does for ImageNet.
//
// Batch norm, eps 1e-5, takes the statistics of the micro-batch in training and its buffers in an evaluation. The
// buffers move by 0.1 a step towards the mean over the step's micro-batches (of the variance without bias).
#ifndef REKINDLE_WORKER_MODELS_RESNET_H_
#define REKINDLE_WORKER_MODELS_RESNET_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/models/registry.h"
#include "worker/train/model.h"

namespace rekindle::models {

// Parameters and buffers as torchvision names them: "layer1.0.conv1.weight", "bn1.running_mean", "fc.bias" ...
// `width`: channels of the first stage, 64 in the paper. Convolutions start as normal with deviation
// sqrt(2 / (out * kernel)), the last layer with sqrt(1 / in). INVALID_ARGUMENT names the field.
absl::StatusOr<std::unique_ptr<train::Model>> MakeResnet(const ModelSpec& spec);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_RESNET_H_
