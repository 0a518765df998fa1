// A multi-layer perceptron on rows of numbers, for classes or for any number.
//
//   h = x; each hidden layer: h = dropout(relu(W h + b)); outputs = W h + b
//
// The loss is summed cross-entropy over `classes`, or with classes 0 the summed squared error of one output.
#ifndef REKINDLE_WORKER_MODELS_MLP_H_
#define REKINDLE_WORKER_MODELS_MLP_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/models/registry.h"
#include "worker/train/model.h"

namespace rekindle::models {

// Parameters as PyTorch names those of a ModuleList `layers` of Linear: "layers.0.weight" [out, in], "layers.0.bias".
// Matrices start as normal with deviation sqrt(2 / in) (He et al., 2015), biases as 0. INVALID_ARGUMENT names the
// field.
absl::StatusOr<std::unique_ptr<train::Model>> MakeMlp(const ModelSpec& spec);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_MLP_H_
