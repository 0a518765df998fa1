// Declares what a kind of model is, without the code that computes it (worker/models/kinds). By these declarations the
// coordinator fills in and checks spec.model, and trainers check the job.
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

// Names a published size of a kind of model. A job that names it in spec.model.kind gets the kind with the size's
// layers, heads and width as defaults.
struct ModelSize {
  const char* name;
  int layers, heads, width;
};

struct ModelKind {
  const char* name;
  // `reads` is the form of the samples that the model reads.
  train::SampleForm reads;
  // `parameters` declares the fields of spec.model that the kind of model has, except `kind` and `weights`.
  std::span<const train::Parameter> parameters;
  std::span<const ModelSize> sizes = {};
  // `recomputes` says that the kind can compute a block again in backward instead of keeping its activations.
  bool recomputes = false;
  // A probe of the arithmetic (numeric_runtime.h) computes on at most `probe_samples` samples. The field is 0 for a
  // model on windows of tokens.
  int probe_samples = 0;
  // `values` returns the number of values of a sample. It is null for a model on windows of tokens.
  int (*values)(const ModelSpec& spec) = nullptr;
  // `check` checks what `parameters` does not declare, such as the range of `inputs`. It may be null.
  absl::Status (*check)(const ModelSpec& spec) = nullptr;
  // `layout` returns the model's parameters in the order of registration, with the names of PyTorch. Buffers come last.
  // It is null for the user's own model, whose layout is known only while it runs. REQUIRES: the fields are in their
  // ranges.
  train::ParameterLayout (*layout)(const ModelSpec& spec);
  // `weight_name` returns the name that the kind of model uses for a tensor of a published set of weights, or an empty
  // text for a tensor that is not one of its weights. If `weight_name` is null, the kind uses the published names.
  std::string (*weight_name)(const std::string& published) = nullptr;
};

std::span<const ModelKind* const> ModelKinds();
// Returns the kind of model called `name`, or null if there is none.
const ModelKind* FindModel(std::string_view name);
// Returns the kind of model of a job that names none.
const ModelKind& DefaultModel();

// Returns INVALID_ARGUMENT, with the field's name, if a field of `spec` is out of the range that `kind` declares.
absl::Status CheckSpec(const ModelKind& kind, const ModelSpec& spec);
// Returns the layout of the model that `spec` describes, whatever its kind. Returns INVALID_ARGUMENT if the kind is
// unknown or a field is out of range.
absl::StatusOr<train::ParameterLayout> LayoutOf(const ModelSpec& spec);
// Returns the name that the kind of model uses for a tensor of a published set of weights (ModelKind::weight_name).
std::string WeightNameOf(const std::string& kind, const std::string& published);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DECLARED_MODEL_KIND_H_
