// The parameters of a model without the model: names and shapes, for programs that never see torch. Pure.
#ifndef REKINDLE_WORKER_MODELS_LAYOUT_H_
#define REKINDLE_WORKER_MODELS_LAYOUT_H_

#include <array>
#include <string>
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

// What a model of this kind calls a tensor of a set that others published: GPT-2 of Hugging Face with its prefix, its
// masks and its output weights (tied) left out, ResNets without their counters. Empty: none of its weights.
std::string WeightNameOf(const std::string& kind, const std::string& published);

// INVALID_ARGUMENT names the field that is out of range.
absl::Status CheckGptSpec(const ModelSpec& spec);
absl::Status CheckGpt2Spec(const ModelSpec& spec);
absl::Status CheckMlpSpec(const ModelSpec& spec);
absl::Status CheckResnetSpec(const ModelSpec& spec);
// In the order of registration, named as PyTorch names them; buffers last. REQUIRE that the spec was checked.
train::ParameterLayout GptLayout(const ModelSpec& spec);
train::ParameterLayout Gpt2Layout(const ModelSpec& spec);
train::ParameterLayout MlpLayout(const ModelSpec& spec);
train::ParameterLayout ResnetLayout(const ModelSpec& spec);

inline constexpr int kResnetStages = 4;
struct ResnetShape {
  bool bottleneck = false;  // Blocks of 1 x 1, 3 x 3 and 1 x 1 convolutions, the last four times as wide.
  std::array<int, kResnetStages> blocks;
};
ResnetShape ResnetShapeOf(const ModelSpec& spec);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_LAYOUT_H_
