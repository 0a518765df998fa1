// Declares the model kind of a byte-level GPT.
#include "absl/strings/str_cat.h"
#include "worker/models/declared/layout_builder.h"
#include "worker/models/declared/model_kinds.h"
#include "worker/models/declared/shared_fields.h"

namespace rekindle::models {
namespace {

// The tokens of a byte-level GPT are the values of a byte.
constexpr int64_t kVocabulary = 256;

constexpr train::Parameter kParameters[] = {WithDefault(kLayers, 4), WithDefault(kHeads, 4),
                                            WithDefault(kHeadsWidth, 128), WithDefault(kContext, 128), kDropout};

train::ParameterLayout Layout(const ModelSpec& spec) {
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

}  // namespace

const ModelKind kGptModel{
    .name = "gpt", .reads = train::SampleForm::kBytes, .parameters = kParameters, .recomputes = true, .layout = Layout};

}  // namespace rekindle::models
