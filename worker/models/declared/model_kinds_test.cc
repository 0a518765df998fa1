#include "worker/models/declared/model_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "worker/data/declared/limits.h"
#include "worker/models/declared/model_spec_proto.h"

namespace rekindle::models {
namespace {

using ::testing::HasSubstr;

const ModelSpec kSpec = {
    .kind = "gpt", .layers = 1, .heads = 2, .width = 8, .context = 4, .inputs = 3, .classes = 2, .vocabulary = 50};

std::string Error(const std::string& kind, void (*change)(ModelSpec&)) {
  ModelSpec spec = kSpec;
  spec.kind = kind;
  change(spec);
  return std::string(LayoutOf(spec).status().message());
}

TEST(ModelKindsTest, EveryDeclaredFieldIsOneOfTheJobFileAndOfTheSpec) {
  for (const ModelKind* kind : ModelKinds()) {
    EXPECT_EQ(FindModel(kind->name), kind);
    const bool own = kind->reads == train::SampleForm::kOwn;
    EXPECT_EQ(own, kind->layout == nullptr) << kind->name;
    EXPECT_EQ(train::IsWindow(kind->reads) || own, kind->values == nullptr) << kind->name;
    for (const train::Parameter& parameter : kind->parameters) {
      EXPECT_NE(v1::JobSpec::Model::descriptor()->FindFieldByName(parameter.field), nullptr) << parameter.field;
      ModelSpec spec = kSpec;
      spec.kind = kind->name;
      EXPECT_TRUE(train::IsInRange(parameter, ValueOf(spec, parameter.field))) << parameter.field;
      EXPECT_TRUE(CheckSpec(*kind, spec).ok()) << kind->name;
    }
  }
  EXPECT_EQ(FindModel("gtp"), nullptr);
}

TEST(ModelKindsTest, OnePastALimitIsRefused) {
  for (const char* kind : {"gpt", "gpt2", "mlp"}) {
    EXPECT_EQ(Error(kind, [](ModelSpec& spec) { spec.layers = 512; }), "") << kind;
    EXPECT_EQ(Error(kind, [](ModelSpec& spec) { spec.layers = 513; }), "model.layers is 513; it must be from 1 to 512");
  }
  EXPECT_EQ(Error("gpt", [](ModelSpec& spec) { spec.heads = spec.width = 512; }), "");
  EXPECT_EQ(Error("gpt", [](ModelSpec& spec) { spec.heads = spec.width = 513; }),
            "model.heads is 513; it must be from 1 to 512");
  EXPECT_EQ(Error("mlp", [](ModelSpec& spec) { spec.inputs = data::kMostFeatures; }), "");
  EXPECT_EQ(Error("mlp", [](ModelSpec& spec) { spec.inputs = data::kMostFeatures + 1; }),
            "model.inputs is 4097; it must be from 1 to 4096");
  EXPECT_EQ(Error("resnet50", [](ModelSpec& spec) { spec.classes = 257; }),
            "model.classes is 257; it must be from 1 to 256");
  EXPECT_EQ(Error("mlp", [](ModelSpec& spec) { spec.classes = -1; }),
            "model.classes is -1; it must be from 0 to 1048576");
  EXPECT_EQ(Error("gpt", [](ModelSpec& spec) { spec.dropout = 1; }),
            "model.dropout is 1; it must be at least 0 and below 1");
  EXPECT_EQ(Error("gpt", [](ModelSpec& spec) { spec.width = 9; }),
            "model.width (9) must be a multiple of model.heads (2)");
  EXPECT_THAT(Error("resnet18", [](ModelSpec& spec) { spec.dropout = 0.1; }), HasSubstr("a ResNet has none"));
}

TEST(ModelKindsTest, LayoutsCountAsTheirPapersDo) {
  // GPT-2 has 124 million parameters, and the ResNets have as many as torchvision's with 3 x 3 stems and 10 classes.
  const ModelSpec gpt2{.kind = "gpt2", .layers = 12, .heads = 12, .width = 768, .context = 1024, .vocabulary = 50257};
  EXPECT_EQ(LayoutOf(gpt2)->total, 124'439'808);
  const auto trained = [](const char* kind) {
    int64_t total = 0;
    const auto layout = LayoutOf({.kind = kind, .width = 64, .classes = 10});
    for (const train::ParameterInfo& info : layout->parameters) total += info.is_buffer() ? 0 : info.size;
    return total;
  };
  EXPECT_EQ(trained("resnet18"), 11'173'962);
  EXPECT_EQ(trained("resnet50"), 23'520'842);
  EXPECT_EQ(LayoutOf({.kind = "mlp", .layers = 1, .width = 16, .inputs = 5})->total, 5 * 16 + 16 + 16 + 1);
}

TEST(ModelKindsTest, PublishedWeightsHaveTheModelsNames) {
  EXPECT_EQ(WeightNameOf("gpt2", "transformer.h.0.attn.c_attn.bias"), "h.0.attn.c_attn.bias");
  for (const char* stranger : {"h.3.attn.bias", "transformer.h.3.attn.masked_bias", "lm_head.weight"}) {
    EXPECT_EQ(WeightNameOf("gpt2", stranger), "") << stranger;
  }
  EXPECT_EQ(WeightNameOf("resnet18", "bn1.num_batches_tracked"), "");
  EXPECT_EQ(WeightNameOf("resnet18", "bn1.running_mean"), "bn1.running_mean");
  EXPECT_EQ(WeightNameOf("gpt", "transformer.x"), "transformer.x");
}

TEST(ModelKindsTest, TheSpecOfAJobHasWhatTheDataSay) {
  v1::JobSpec spec;
  spec.mutable_model()->set_kind("mlp");
  spec.mutable_model()->set_layers(3);
  spec.mutable_model()->set_dropout(0.5);
  spec.mutable_data()->mutable_table()->add_features("height");
  spec.mutable_data()->mutable_table()->add_features("width");
  spec.mutable_training()->set_activations("recompute");
  const ModelSpec model = ModelSpecOf(spec);
  EXPECT_EQ(model.kind, "mlp");
  EXPECT_EQ(model.layers, 3);
  EXPECT_EQ(model.dropout, 0.5);
  EXPECT_EQ(model.inputs, 2);
  EXPECT_TRUE(model.recompute);
}

}  // namespace
}  // namespace rekindle::models
