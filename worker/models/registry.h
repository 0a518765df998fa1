// The models a job can name. A new one is a file beside gpt.cc and one line in registry.cc. Torch-free header.
#ifndef REKINDLE_WORKER_MODELS_REGISTRY_H_
#define REKINDLE_WORKER_MODELS_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/models/device.h"
#include "worker/train/model.h"
#include "worker/train/spec.h"

namespace rekindle::models {

// The job's `model` section.
struct ModelSpec {
  std::string kind = "gpt";
  int layers = 0;
  int heads = 0;
  int width = 0;
  int context = 0;
  double dropout = 0;  // [0, 1).
  int inputs = 0;      // mlp: features a sample.
  int classes = 0;     // mlp, resnet18, resnet50. mlp with 0: one number.
  int vocabulary = 0;  // gpt2.
  train::ComputeType compute = train::ComputeType::kFloat32;
  ComputeDevice device = ComputeDevice::kCpu;
  bool recompute = false;  // gpt, gpt2: blocks run again in backward rather than keep their activations (recompute.h).
};

// Call PinThreads (runtime.h) before the first. INVALID_ARGUMENT: an unknown kind (names the nearest known one), or a
// field out of range (names it).
absl::StatusOr<std::unique_ptr<train::Model>> MakeModel(const ModelSpec& spec);

std::vector<std::string> KnownModels();

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_REGISTRY_H_
