#include "worker/models/layout.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rekindle::models {
namespace {

constexpr int64_t kVocabulary = 256;
constexpr int kMaxVocabulary = 1 << 16;  // Tokens have 16 bits.
constexpr int kMaxClasses = 1 << 20;
constexpr double kNormMomentum = 0.1;  // Of batch norm's statistics; PyTorch's default.

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

absl::Status CheckDropout(double dropout) {
  if (dropout >= 0 && dropout < 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("model.dropout is ", dropout, "; it must be at least 0 and below 1"));
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
  return CheckDropout(spec.dropout);
}

absl::Status CheckGpt2Spec(const ModelSpec& spec) {
  absl::Status status = CheckGptSpec(spec);
  status.Update(CheckRange("vocabulary", spec.vocabulary, kMaxVocabulary));
  return status;
}

absl::Status CheckMlpSpec(const ModelSpec& spec) {
  for (absl::Status status :
       {CheckRange("layers", spec.layers, 1024), CheckRange("width", spec.width, 1 << 16),
        CheckRange("inputs", spec.inputs, 1 << 20), CheckRange("classes", spec.classes + 1, kMaxClasses + 1)}) {
    if (!status.ok()) return status;
  }
  return CheckDropout(spec.dropout);
}

absl::Status CheckResnetSpec(const ModelSpec& spec) {
  for (absl::Status status : {CheckRange("width", spec.width, 1 << 12), CheckRange("classes", spec.classes, 256)}) {
    if (!status.ok()) return status;
  }
  if (spec.dropout == 0) return absl::OkStatus();
  return absl::InvalidArgumentError("model.dropout: a ResNet has none; use optimizer.weight_decay");
}

train::ParameterLayout Gpt2Layout(const ModelSpec& spec) {
  train::ParameterLayout layout;
  const int64_t width = spec.width;
  const auto add_norm = [&](const std::string& name) {
    AddParameter(name + ".weight", {width}, layout);
    AddParameter(name + ".bias", {width}, layout);
  };
  const auto add_projection = [&](const std::string& name, int64_t in, int64_t out) {
    AddParameter(name + ".weight", {in, out}, layout);
    AddParameter(name + ".bias", {out}, layout);
  };
  AddParameter("wte.weight", {spec.vocabulary, width}, layout);
  AddParameter("wpe.weight", {spec.context, width}, layout);
  for (int i = 0; i < spec.layers; ++i) {
    const std::string block = absl::StrCat("h.", i, ".");
    add_norm(block + "ln_1");
    add_projection(block + "attn.c_attn", width, 3 * width);
    add_projection(block + "attn.c_proj", width, width);
    add_norm(block + "ln_2");
    add_projection(block + "mlp.c_fc", width, 4 * width);
    add_projection(block + "mlp.c_proj", 4 * width, width);
  }
  add_norm("ln_f");
  return layout;
}

train::ParameterLayout MlpLayout(const ModelSpec& spec) {
  train::ParameterLayout layout;
  for (int i = 0; i <= spec.layers; ++i) {
    const int64_t in = i == 0 ? spec.inputs : spec.width;
    const int64_t out = i == spec.layers ? std::max(1, spec.classes) : spec.width;
    AddParameter(absl::StrCat("layers.", i, ".weight"), {out, in}, layout);
    AddParameter(absl::StrCat("layers.", i, ".bias"), {out}, layout);
  }
  return layout;
}

ResnetShape ResnetShapeOf(const ModelSpec& spec) {
  if (spec.kind == "resnet50") return {.bottleneck = true, .blocks = {3, 4, 6, 3}};
  return {.bottleneck = false, .blocks = {2, 2, 2, 2}};
}

train::ParameterLayout ResnetLayout(const ModelSpec& spec) {
  train::ParameterLayout layout, buffers;
  const auto add = [&](const std::string& convolution, const std::string& norm, int64_t in, int64_t out, int64_t side) {
    AddParameter(convolution + ".weight", {out, in, side, side}, layout);
    AddParameter(norm + ".weight", {out}, layout);
    AddParameter(norm + ".bias", {out}, layout);
    AddParameter(norm + ".running_mean", {out}, buffers);
    AddParameter(norm + ".running_var", {out}, buffers);
  };
  const ResnetShape shape = ResnetShapeOf(spec);
  add("conv1", "bn1", 3, spec.width, 3);
  int64_t in = spec.width;
  for (int stage = 0; stage < kResnetStages; ++stage) {
    const int64_t inner = int64_t{spec.width} << stage, out = shape.bottleneck ? 4 * inner : inner;
    for (int i = 0; i < shape.blocks[stage]; ++i, in = out) {
      const std::string block = absl::StrCat("layer", stage + 1, ".", i, ".");
      add(block + "conv1", block + "bn1", in, inner, shape.bottleneck ? 1 : 3);
      add(block + "conv2", block + "bn2", inner, inner, 3);
      if (shape.bottleneck) add(block + "conv3", block + "bn3", inner, out, 1);
      const bool same = in == out && (stage == 0 || i > 0);
      if (!same) add(block + "downsample.0", block + "downsample.1", in, out, 1);
    }
  }
  AddParameter("fc.weight", {spec.classes, in}, layout);
  AddParameter("fc.bias", {spec.classes}, layout);
  for (train::ParameterInfo& buffer : buffers.parameters) {
    buffer.offset += layout.total;
    buffer.momentum = kNormMomentum;
    layout.parameters.push_back(std::move(buffer));
  }
  layout.total += buffers.total;
  return layout;
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

std::string WeightNameOf(const std::string& kind, const std::string& published) {
  constexpr char kPrefix[] = "transformer.";
  std::string name = published;
  if (kind == "gpt2") {
    if (name.starts_with(kPrefix)) name = name.substr(sizeof(kPrefix) - 1);
    const bool mask = name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias");
    return mask || name == "lm_head.weight" ? "" : name;
  }
  return kind.starts_with("resnet") && name.ends_with(".num_batches_tracked") ? "" : name;
}

absl::StatusOr<train::ParameterLayout> LayoutOf(const ModelSpec& spec) {
  const auto checked = [&](absl::Status (*check)(const ModelSpec&),
                           train::ParameterLayout (*make)(const ModelSpec&)) -> absl::StatusOr<train::ParameterLayout> {
    if (absl::Status status = check(spec); !status.ok()) return status;
    return make(spec);
  };
  if (spec.kind == "gpt") return checked(CheckGptSpec, GptLayout);
  if (spec.kind == "gpt2") return checked(CheckGpt2Spec, Gpt2Layout);
  if (spec.kind == "mlp") return checked(CheckMlpSpec, MlpLayout);
  if (spec.kind == "resnet18" || spec.kind == "resnet50") return checked(CheckResnetSpec, ResnetLayout);
  return absl::InvalidArgumentError(absl::StrCat("model.kind: '", spec.kind, "' is unknown"));
}

}  // namespace rekindle::models
