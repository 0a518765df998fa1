// Describes the user's module, as the model process tells it.
#ifndef REKINDLE_WORKER_OWN_MODEL_WIRE_DESCRIPTION_H_
#define REKINDLE_WORKER_OWN_MODEL_WIRE_DESCRIPTION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/contract/model_interface.h"

namespace rekindle::own_model {

// A parameter that is not trained. It is outside of the layout, and every process has its own copy.
struct FrozenParameter {
  std::string name;
  int64_t bytes = 0;
};

// Options of the optimizer for the parameters whose names match a pattern, as in fnmatch(3).
struct OptimizerGroup {
  std::string pattern;
  // `options` has the name of each option and its value as JSON.
  std::vector<std::pair<std::string, std::string>> options;

  bool operator==(const OptimizerGroup&) const = default;
};

struct Description {
  std::string python_version;
  std::string torch_version;
  // A buffer of whole numbers or bools with the rule "mean" has BufferRule::kFirst here. Such numbers have no mean, so
  // each micro-batch must give them the same value (LossSum::whole_buffers). The value of one is exact in each type
  // that has an exact value for it, which a sum of several is not.
  train::ParameterLayout layout;
  // `dtypes` has the type of each parameter and buffer of the layout, as torch spells it.
  std::vector<std::string> dtypes;
  std::vector<FrozenParameter> frozen;
  // The first group whose pattern matches decides about a parameter.
  std::vector<OptimizerGroup> groups;
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

// Says in what the second module differs from the first one, such as "its number of samples is 5, and was 4", or
// returns an empty string.
std::string DifferenceOf(const Description& before, const Description& now);

// Returns the groups as one text, which is empty if there are none.
std::string TextOf(const std::vector<OptimizerGroup>& groups);

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_WIRE_DESCRIPTION_H_
