// Describes a model's parameters as manifests and published sets of weights do: by name and shape.
#ifndef REKINDLE_WORKER_MODELS_DECLARED_TENSORS_H_
#define REKINDLE_WORKER_MODELS_DECLARED_TENSORS_H_

#include <vector>

#include "checkpoint/format/manifest.h"
#include "worker/contract/model_interface.h"

namespace rekindle::models {

inline std::vector<checkpoint::TensorInfo> TensorsOf(const train::ParameterLayout& layout) {
  std::vector<checkpoint::TensorInfo> tensors;
  for (const train::ParameterInfo& parameter : layout.parameters) {
    tensors.push_back({.name = parameter.name, .shape = parameter.shape});
  }
  return tensors;
}

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DECLARED_TENSORS_H_
