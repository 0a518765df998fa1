#include "worker/models/declared/model_kinds.h"

#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace rekindle::models {
namespace {

// Writes whole numbers as a job file does: 2000000000, not 2e+09.
std::string Shown(double value) {
  const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
  return whole ? absl::StrCat(static_cast<int64_t>(value)) : absl::StrCat(value);
}

absl::Status CheckField(const train::Parameter& parameter, const ModelSpec& spec) {
  const double value = ValueOf(spec, parameter.field);
  if (!train::IsInRange(parameter, value)) {
    const bool below = parameter.ends == train::Parameter::Ends::kHighOut;
    return absl::InvalidArgumentError(absl::StrCat("model.", parameter.field, " is ", Shown(value), "; it must be ",
                                                   below ? "at least " : "from ", Shown(parameter.low),
                                                   below ? " and below " : " to ", Shown(parameter.high)));
  }
  if (parameter.multiple_of == nullptr) return absl::OkStatus();
  const double part = ValueOf(spec, parameter.multiple_of);
  if (std::fmod(value, part) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("model.", parameter.field, " (", Shown(value),
                                                 ") must be a multiple of model.", parameter.multiple_of, " (",
                                                 Shown(part), ")"));
}

}  // namespace

std::span<const ModelKind* const> ModelKinds() {
#define REKINDLE_ENTRY(Name) &k##Name##Model,
  static constexpr std::array kKinds{REKINDLE_MODELS(REKINDLE_ENTRY) & kPythonModel};
#undef REKINDLE_ENTRY
  return kKinds;
}

const ModelKind* FindModel(std::string_view name) {
  for (const ModelKind* kind : ModelKinds()) {
    if (name == kind->name) return kind;
  }
  return nullptr;
}

const ModelKind& DefaultModel() { return kGptModel; }

absl::Status CheckSpec(const ModelKind& kind, const ModelSpec& spec) {
  for (const train::Parameter& parameter : kind.parameters) {
    if (absl::Status status = CheckField(parameter, spec); !status.ok()) return status;
  }
  return kind.check == nullptr ? absl::OkStatus() : kind.check(spec);
}

absl::StatusOr<train::ParameterLayout> LayoutOf(const ModelSpec& spec) {
  const ModelKind* kind = FindModel(spec.kind);
  if (kind == nullptr) return absl::InvalidArgumentError(absl::StrCat("model.kind: '", spec.kind, "' is unknown"));
  if (absl::Status status = CheckSpec(*kind, spec); !status.ok()) return status;
  if (kind->layout == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("model.kind: the layout of a model of kind ", spec.kind, " is known only while it runs"));
  }
  return kind->layout(spec);
}

std::string WeightNameOf(const std::string& kind, const std::string& published) {
  const ModelKind* found = FindModel(kind);
  return found == nullptr || found->weight_name == nullptr ? published : found->weight_name(published);
}

}  // namespace rekindle::models
