// Describes the user's module, as the model process tells it.
#ifndef REKINDLE_WORKER_OWN_MODEL_WIRE_DESCRIPTION_H_
#define REKINDLE_WORKER_OWN_MODEL_WIRE_DESCRIPTION_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "worker/contract/model_interface.h"

namespace rekindle::own_model {

struct Description {
  std::string python_version;
  std::string torch_version;
  train::ParameterLayout layout;
  // `samples` is the length of the data, and `validation_samples` that of the validation data, which may be 0.
  int64_t samples = 0;
  int64_t validation_samples = 0;
  // `couples_samples` says that the samples of a micro-batch have an influence on each other, so that its size matters.
  bool couples_samples = false;
  // `digest` stands for the initial weights, the buffers and the layout.
  std::string digest;
};

// Parses the JSON of a kReady message. Returns INVALID_ARGUMENT if it is malformed, beyond the limits of a model, or of
// another protocol.
absl::StatusOr<Description> ParseDescription(const std::string& json);

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_WIRE_DESCRIPTION_H_
