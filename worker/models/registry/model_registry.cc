#include "worker/models/registry/model_registry.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/text/nearest.h"
#include "worker/models/kinds/makers.h"

namespace rekindle::models {
namespace {

absl::Status Unknown(const std::string& name) {
  const std::string shown = name.substr(0, 64);
  const auto distance = [&](const ModelKind* kind) { return common::EditDistance(shown, kind->name); };
  const auto kinds = ModelKinds();
  const auto nearest = std::min_element(
      kinds.begin(), kinds.end(), [&](const ModelKind* a, const ModelKind* b) { return distance(a) < distance(b); });
  return absl::InvalidArgumentError(
      absl::StrCat("model.kind: '", shown, "' is unknown; did you mean '", (*nearest)->name, "'?"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<train::Model>> MakeModel(const ModelSpec& spec) {
  const ModelKind* kind = FindModel(spec.kind);
  if (kind == nullptr) return Unknown(spec.kind);
  if (absl::Status status = CheckSpec(*kind, spec); !status.ok()) return status;
  if (kind->layout == nullptr) {
    return absl::InvalidArgumentError("model.kind: rekindle-own-trainer computes the user's own models");
  }
  train::ParameterLayout layout = kind->layout(spec);
#define REKINDLE_TRY(Name) \
  if (kind == &k##Name##Model) return Make##Name(spec, std::move(layout));
  REKINDLE_MODELS(REKINDLE_TRY)
#undef REKINDLE_TRY
  return absl::InternalError("a kind of model that nobody makes");
}

}  // namespace rekindle::models
