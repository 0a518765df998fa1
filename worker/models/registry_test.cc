#include "worker/models/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/models/layout.h"

namespace rekindle::models {
namespace {

using ::testing::HasSubstr;

const ModelSpec kSpec = {
    .kind = "gpt", .layers = 1, .heads = 2, .width = 8, .context = 4, .inputs = 3, .classes = 2, .vocabulary = 50};

TEST(RegistryTest, EveryKnownModelCanBeMade) {
  for (const std::string& kind : KnownModels()) {
    ModelSpec spec = kSpec;
    spec.kind = kind;
    EXPECT_TRUE(MakeModel(spec).ok()) << kind;
  }
}

TEST(RegistryTest, AnUnknownKindNamesTheNearest) {
  for (std::string kind : {std::string("gtp"), std::string(""), std::string(1 << 20, 'x')}) {
    ModelSpec spec = kSpec;
    spec.kind = kind;
    absl::Status status = MakeModel(spec).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("did you mean 'gpt'"));
    EXPECT_LT(status.message().size(), 200u);
  }
}

TEST(RegistryTest, AFieldOutOfRangeIsNamed) {
  auto error = [](auto change) {
    ModelSpec spec = kSpec;
    change(spec);
    return std::string(MakeModel(spec).status().message());
  };
  EXPECT_THAT(error([](ModelSpec& s) { s.layers = 0; }), HasSubstr("model.layers is 0"));
  EXPECT_THAT(error([](ModelSpec& s) { s.layers = 2000000000; }), HasSubstr("model.layers"));
  EXPECT_THAT(error([](ModelSpec& s) { s.heads = -1; }), HasSubstr("model.heads"));
  EXPECT_THAT(error([](ModelSpec& s) { s.width = 9; }), HasSubstr("model.width (9) must be a multiple of model.heads"));
  EXPECT_THAT(error([](ModelSpec& s) { s.context = 0; }), HasSubstr("model.context"));
  EXPECT_THAT(error([](ModelSpec& s) { s.dropout = 1; }), HasSubstr("model.dropout"));
}

TEST(RegistryTest, PublishedWeightsHaveTheModelsNames) {
  EXPECT_EQ(WeightNameOf("gpt2", "transformer.h.0.attn.c_attn.bias"), "h.0.attn.c_attn.bias");
  for (const char* stranger : {"h.3.attn.bias", "transformer.h.3.attn.masked_bias", "lm_head.weight"}) {
    EXPECT_EQ(WeightNameOf("gpt2", stranger), "") << stranger;
  }
  EXPECT_EQ(WeightNameOf("resnet18", "bn1.num_batches_tracked"), "");
  EXPECT_EQ(WeightNameOf("resnet18", "bn1.running_mean"), "bn1.running_mean");
  EXPECT_EQ(WeightNameOf("gpt", "transformer.x"), "transformer.x");
}

TEST(RegistryTest, LayoutsAreKnownWithoutAModel) {
  for (const std::string& kind : KnownModels()) {
    ModelSpec spec = kSpec;
    spec.kind = kind;
    const auto model = MakeModel(spec);
    const auto layout = LayoutOf(spec);
    ASSERT_TRUE(model.ok() && layout.ok()) << kind;
    EXPECT_EQ(TensorsOf(*layout), TensorsOf((*model)->layout()));
    EXPECT_EQ(layout->total, (*model)->layout().total);
  }
  EXPECT_FALSE(LayoutOf({.kind = "gtp"}).ok());
  EXPECT_FALSE(LayoutOf({.kind = "gpt"}).ok());
}

}  // namespace
}  // namespace rekindle::models
