// Adds parameters to a model's layout one after the other.
#ifndef REKINDLE_WORKER_MODELS_DECLARED_LAYOUT_BUILDER_H_
#define REKINDLE_WORKER_MODELS_DECLARED_LAYOUT_BUILDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "worker/contract/model_interface.h"

namespace rekindle::models {

// Appends a parameter to a layout. Weight decay applies to a parameter with more than one dimension.
inline void AddParameter(const std::string& name, std::vector<int64_t> shape, train::ParameterLayout& layout) {
  int64_t size = 1;
  for (int64_t extent : shape) size *= extent;
  const bool matrix = shape.size() > 1;
  layout.parameters.push_back({name, std::move(shape), layout.total, size, matrix});
  layout.total += size;
}

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DECLARED_LAYOUT_BUILDER_H_
