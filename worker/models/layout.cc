#include "worker/models/layout.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rekindle::models {
namespace {

constexpr int64_t kVocabulary = 256;

void AddParameter(const std::string& name, std::vector<int64_t> shape, train::ParameterLayout& layout) {
  int64_t size = 1;
  for (int64_t extent : shape) size *= extent;
  const bool matrix = shape.size() > 1;
  layout.parameters.push_back({name, std::move(shape), layout.total, size, matrix});
  layout.total += size;
}

absl::Status CheckRange(const char* field, int value, int most) {
  if (value >= 1 && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("model.", field, " is ", value, "; it must be from 1 to ", most));
}

}  // namespace

absl::Status CheckGptSpec(const ModelSpec& spec) {
  for (absl::Status status : {CheckRange("layers", spec.layers, 1024), CheckRange("heads", spec.heads, 1024),
                              CheckRange("width", spec.width, 1 << 16), CheckRange("context", spec.context, 1 << 20)}) {
    if (!status.ok()) return status;
  }
  if (spec.width % spec.heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("model.width (", spec.width, ") must be a multiple of model.heads (", spec.heads, ")"));
  }
  if (!(spec.dropout >= 0 && spec.dropout < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("model.dropout is ", spec.dropout, "; it must be at least 0 and below 1"));
  }
  return absl::OkStatus();
}

train::ParameterLayout GptLayout(const ModelSpec& spec) {
  train::ParameterLayout layout;
  const int64_t width = spec.width;
  AddParameter("tok.weight", {kVocabulary, width}, layout);
  AddParameter("pos.weight", {spec.context, width}, layout);
  for (int i = 0; i < spec.layers; ++i) {
    const std::string block = absl::StrCat("blocks.", i, ".");
    AddParameter(block + "ln1.weight", {width}, layout);
    AddParameter(block + "ln1.bias", {width}, layout);
    AddParameter(block + "qkv.weight", {3 * width, width}, layout);
    AddParameter(block + "proj.weight", {width, width}, layout);
    AddParameter(block + "ln2.weight", {width}, layout);
    AddParameter(block + "ln2.bias", {width}, layout);
    AddParameter(block + "up.weight", {4 * width, width}, layout);
    AddParameter(block + "down.weight", {width, 4 * width}, layout);
  }
  AddParameter("ln.weight", {width}, layout);
  AddParameter("ln.bias", {width}, layout);
  return layout;
}

std::vector<checkpoint::TensorInfo> TensorsOf(const train::ParameterLayout& layout) {
  std::vector<checkpoint::TensorInfo> tensors;
  for (const train::ParameterInfo& parameter : layout.parameters) {
    tensors.push_back({.name = parameter.name, .shape = parameter.shape});
  }
  return tensors;
}

absl::StatusOr<train::ParameterLayout> LayoutOf(const ModelSpec& spec) {
  if (spec.kind != "gpt") return absl::InvalidArgumentError(absl::StrCat("model.kind: '", spec.kind, "' is unknown"));
  if (absl::Status status = CheckGptSpec(spec); !status.ok()) return status;
  return GptLayout(spec);
}

}  // namespace rekindle::models
