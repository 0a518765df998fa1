// Declares what a kind of model is, without the code that computes it (worker/models/kinds). The coordinator fills in
// and checks spec.model with this, and trainers check by the same.
#ifndef REKINDLE_WORKER_MODELS_DECLARED_MODEL_KIND_H_
#define REKINDLE_WORKER_MODELS_DECLARED_MODEL_KIND_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/contract/model_interface.h"
#include "worker/contract/parameter.h"
#include "worker/contract/sample_form.h"
#include "worker/models/declared/model_spec.h"

namespace rekindle::models {

// Names a published size of a kind. A job that names it in spec.model.kind gets the kind with these defaults.
struct ModelSize {
  const char* name;
  int layers, heads, width;
};

struct ModelKind {
  const char* name;
  // The model reads samples of this form.
  train::SampleForm reads;
  // `parameters` declares the fields of spec.model that this kind has, except `kind` and `weights`.
  std::span<const train::Parameter> parameters;
  std::span<const ModelSize> sizes = {};
  // With `recomputes` the kind can compute a block again in backward instead of keeping its activations.
  bool recomputes = false;
  // A probe of the arithmetic (runtime.h) computes on at most this many samples. It is 0 for a model on windows.
  int probe_samples = 0;
  // Returns the number of values of a sample. It is null for a model on windows.
  int (*values)(const ModelSpec& spec) = nullptr;
  // Checks what the ranges of the fields do not say. It may be null.
  absl::Status (*check)(const ModelSpec& spec) = nullptr;
  // Returns the parameters in the order of registration, with the names of PyTorch. Buffers come last. REQUIRES: the
  // fields are in their ranges.
  train::ParameterLayout (*layout)(const ModelSpec& spec);
  // Returns the name that this kind uses for a tensor of a published set of weights, or an empty text for a tensor that
  // is not one of its weights. If it is null, the names are the same.
  std::string (*weight_name)(const std::string& published) = nullptr;
};

std::span<const ModelKind* const> ModelKinds();
// Returns null if no model has that name.
const ModelKind* FindModel(std::string_view name);
// Returns the kind of a job that names none.
const ModelKind& DefaultModel();

// Returns INVALID_ARGUMENT, with the field's name, if a field of `spec` is out of the range that `kind` declares.
absl::Status CheckSpec(const ModelKind& kind, const ModelSpec& spec);
// Returns the layout of any model that a job can name. Returns INVALID_ARGUMENT as CheckSpec does, or for an unknown
// kind.
absl::StatusOr<train::ParameterLayout> LayoutOf(const ModelSpec& spec);
// Returns the name of the kind for a tensor of a published set of weights (ModelKind::weight_name).
std::string WeightNameOf(const std::string& kind, const std::string& published);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DECLARED_MODEL_KIND_H_
