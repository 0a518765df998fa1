// Declares the model kind of a multi-layer perceptron on rows of numbers.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "worker/data/declared/limits.h"
#include "worker/models/declared/layout_builder.h"
#include "worker/models/declared/model_kinds.h"
#include "worker/models/declared/shared_fields.h"

namespace rekindle::models {
namespace {

constexpr train::Parameter kParameters[] = {
    WithDefault(kLayers, 2),
    WithDefault(kWidth, 128),
    // With 0 `classes` the model predicts one number.
    {.field = "classes", .initial = 0, .low = 0, .high = 1 << 20},
    kDropout,
};

int Values(const ModelSpec& spec) { return spec.inputs; }

absl::Status Check(const ModelSpec& spec) {
  if (spec.inputs >= 1 && spec.inputs <= data::kMostFeatures) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("model.inputs is ", spec.inputs, "; it must be from 1 to ", data::kMostFeatures));
}

train::ParameterLayout Layout(const ModelSpec& spec) {
  train::ParameterLayout layout;
  for (int i = 0; i <= spec.layers; ++i) {
    const int64_t in = i == 0 ? spec.inputs : spec.width;
    const int64_t out = i == spec.layers ? std::max(1, spec.classes) : spec.width;
    AddParameter(absl::StrCat("layers.", i, ".weight"), {out, in}, layout);
    AddParameter(absl::StrCat("layers.", i, ".bias"), {out}, layout);
  }
  return layout;
}

}  // namespace

const ModelKind kMlpModel{.name = "mlp",
                          .reads = train::SampleForm::kRows,
                          .parameters = kParameters,
                          .probe_samples = 64,
                          .values = Values,
                          .check = Check,
                          .layout = Layout};

}  // namespace rekindle::models
