// The parameters of a model without the model: names and shapes, for programs that never see torch. Pure.
#ifndef REKINDLE_WORKER_MODELS_LAYOUT_H_
#define REKINDLE_WORKER_MODELS_LAYOUT_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/manifest.h"
#include "worker/models/registry.h"
#include "worker/train/model.h"

namespace rekindle::models {

// Of any model that registry.h makes. INVALID_ARGUMENT as MakeModel.
absl::StatusOr<train::ParameterLayout> LayoutOf(const ModelSpec& spec);

// As manifests and sets of weights name them.
std::vector<checkpoint::TensorInfo> TensorsOf(const train::ParameterLayout& layout);

// INVALID_ARGUMENT names the field that is out of range.
absl::Status CheckGptSpec(const ModelSpec& spec);
// In the order of registration, named as PyTorch names them. REQUIRES CheckGptSpec.
train::ParameterLayout GptLayout(const ModelSpec& spec);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_LAYOUT_H_
