#include "worker/models/registry/model_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "worker/models/declared/compute_device.h"
#include "worker/models/declared/model_kind.h"
#include "worker/models/declared/tensors.h"

namespace rekindle::models {
namespace {

using ::testing::HasSubstr;

const ModelSpec kSpec = {
    .kind = "gpt", .layers = 1, .heads = 2, .width = 8, .context = 4, .inputs = 3, .classes = 2, .vocabulary = 50};

TEST(RegistryTest, EveryKnownModelCanBeMade) {
  for (const ModelKind* kind : ModelKinds()) {
    ModelSpec spec = kSpec;
    spec.kind = kind->name;
    // The user's own model is made in a process of its own (worker/own_model), and not here.
    EXPECT_EQ(MakeModel(spec).ok(), kind->layout != nullptr) << kind->name;
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

TEST(RegistryTest, WithoutAGpuLoadCudaSaysWhatIsMissing) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "this machine has a GPU";
  const absl::Status refused = LoadCuda(true);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), testing::AnyOf(HasSubstr("LibTorch's CUDA part cannot be loaded: "),
                                                             HasSubstr("LibTorch finds no GPU that it can use")));
}

TEST(RegistryTest, AFieldOutOfRangeIsNamed) {
  auto error = [](auto change) {
    ModelSpec spec = kSpec;
    change(spec);
    return std::string(MakeModel(spec).status().message());
  };
  EXPECT_THAT(error([](ModelSpec& s) { s.layers = 0; }), HasSubstr("model.layers is 0"));
  EXPECT_THAT(error([](ModelSpec& s) { s.layers = 2000000000; }),
              HasSubstr("model.layers is 2000000000; it must be from 1 to 512"));
  EXPECT_THAT(error([](ModelSpec& s) { s.heads = -1; }), HasSubstr("model.heads"));
  EXPECT_THAT(error([](ModelSpec& s) { s.width = 9; }), HasSubstr("model.width (9) must be a multiple of model.heads"));
  EXPECT_THAT(error([](ModelSpec& s) { s.context = 0; }), HasSubstr("model.context"));
  EXPECT_THAT(error([](ModelSpec& s) { s.dropout = 1; }), HasSubstr("model.dropout"));
}

TEST(RegistryTest, LayoutsAreKnownWithoutAModel) {
  for (const ModelKind* kind : ModelKinds()) {
    ModelSpec spec = kSpec;
    spec.kind = kind->name;
    if (kind->layout == nullptr) continue;
    const auto model = MakeModel(spec);
    const auto layout = LayoutOf(spec);
    ASSERT_TRUE(model.ok() && layout.ok()) << kind->name;
    EXPECT_EQ(TensorsOf(*layout), TensorsOf((*model)->layout()));
    EXPECT_EQ(layout->total, (*model)->layout().total);
  }
  EXPECT_FALSE(LayoutOf({.kind = "gtp"}).ok());
  EXPECT_FALSE(LayoutOf({.kind = "gpt"}).ok());
  EXPECT_FALSE(LayoutOf({.kind = "python"}).ok());
}

}  // namespace
}  // namespace rekindle::models
