// Declares the model kind of GPT-2 as it was published (Radford et al., 2019), for tokens of 16 bits.
#include "absl/strings/str_cat.h"
#include "worker/models/declared/layout_builder.h"
#include "worker/models/declared/model_kinds.h"
#include "worker/models/declared/shared_fields.h"

namespace rekindle::models {
namespace {

// `kSizes` lists the published sizes of GPT-2, each with its layers, heads and width.
constexpr ModelSize kSizes[] = {
    {"gpt2", 12, 12, 768}, {"gpt2-medium", 24, 16, 1024}, {"gpt2-large", 36, 20, 1280}, {"gpt2-xl", 48, 25, 1600}};

// The defaults of `layers`, `heads` and `width` are those of the published size that the job names.
constexpr train::Parameter kParameters[] = {
    kLayers,
    kHeads,
    kHeadsWidth,
    WithDefault(kContext, 1024),
    {.field = "vocabulary", .initial = 50257, .low = 1, .high = 65536},
    kDropout,
};

train::ParameterLayout Layout(const ModelSpec& spec) {
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

// Returns the model's name for the tensor `published` of Hugging Face's GPT-2, which may have a prefix. Returns an
// empty text for an attention mask and for the (tied) output weights.
std::string WeightName(const std::string& published) {
  constexpr char kPrefix[] = "transformer.";
  std::string name = published;
  if (name.starts_with(kPrefix)) name = name.substr(sizeof(kPrefix) - 1);
  const bool mask = name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias");
  return mask || name == "lm_head.weight" ? "" : name;
}

}  // namespace

const ModelKind kGpt2Model{.name = "gpt2",
                           .reads = train::SampleForm::kTokenIds,
                           .parameters = kParameters,
                           .sizes = kSizes,
                           .recomputes = true,
                           .layout = Layout,
                           .weight_name = WeightName};

}  // namespace rekindle::models
