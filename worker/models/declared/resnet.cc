// Declares the model kinds ResNet-18 and ResNet-50 for small colour images. `width` is the number of channels of the
// first stage.
#include "worker/models/declared/resnet.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/data/declared/image_record.h"
#include "worker/models/declared/layout_builder.h"
#include "worker/models/declared/model_kinds.h"

namespace rekindle::models {
namespace {

// The statistics of batch norm move with PyTorch's default momentum.
constexpr double kNormMomentum = 0.1;

constexpr train::Parameter kParameters[] = {
    {.field = "width", .initial = 64, .low = 1, .high = 4096},
    // There are at most 256 `classes`, because the label of an image is a byte.
    {.field = "classes", .initial = 10, .low = 1, .high = 256},
};

int Values(const ModelSpec&) { return data::kImagePixels; }

absl::Status Check(const ModelSpec& spec) {
  if (spec.dropout == 0) return absl::OkStatus();
  return absl::InvalidArgumentError("model.dropout: a ResNet has none; use optimizer.weight_decay");
}

// PyTorch's batch norm also counts its batches. These counters are not among the weights of this model, so their name
// is empty.
std::string WeightName(const std::string& published) {
  return published.ends_with(".num_batches_tracked") ? "" : published;
}

train::ParameterLayout Layout(const ModelSpec& spec, const ResnetShape& shape) {
  train::ParameterLayout layout, buffers;
  const auto add = [&](const std::string& convolution, const std::string& norm, int64_t in, int64_t out, int64_t side) {
    AddParameter(convolution + ".weight", {out, in, side, side}, layout);
    AddParameter(norm + ".weight", {out}, layout);
    AddParameter(norm + ".bias", {out}, layout);
    AddParameter(norm + ".running_mean", {out}, buffers);
    AddParameter(norm + ".running_var", {out}, buffers);
  };
  add("conv1", "bn1", data::kImagePlanes, spec.width, 3);
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

constexpr ModelKind Resnet(const char* name, train::ParameterLayout (*layout)(const ModelSpec&)) {
  return {.name = name,
          .reads = train::SampleForm::kImages,
          .parameters = kParameters,
          .probe_samples = 2,
          .values = Values,
          .check = Check,
          .layout = layout,
          .weight_name = WeightName};
}

}  // namespace

const ModelKind kResnet18Model = Resnet("resnet18", [](const ModelSpec& spec) { return Layout(spec, kResnet18Shape); });
const ModelKind kResnet50Model = Resnet("resnet50", [](const ModelSpec& spec) { return Layout(spec, kResnet50Shape); });

}  // namespace rekindle::models
