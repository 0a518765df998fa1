// Exports a checkpoint's weights to a plain set of weights and reads them back.
#include "checkpoint/weights/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/testing/testing.h"
#include "checkpoint/weights/weight_set.h"
#include "common/testing/fault_file.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<TensorInfo> kTensors = {{"tok.weight", {7, 3}}, {"ln.bias", {5}}, {"head.weight", {2, 11}}};
constexpr int64_t kTotal = 7 * 3 + 5 + 2 * 11;

class ExportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int64_t i = 0; i < kTotal; ++i) state_.weights[i] = 0.001f * static_cast<float>(i * i) - 0.3f;
    auto manifest = PutShards(store_, "job", 1, 10, state_, 5);
    ASSERT_TRUE(manifest.ok());
    manifest->tensors = kTensors;
    name_ = *store_.PutManifest(*manifest);
  }
  absl::StatusOr<Exported> Export(const ExportOptions& options, const std::string& folder = "/out/set") {
    return ExportWeights(store_, "job", name_, fs_, folder, options);
  }
  std::vector<float> Read(const std::string& folder = "/out/set") {
    std::vector<float> weights(kTotal);
    const auto set = WeightSet::Open(fs_, folder);
    EXPECT_TRUE(set.ok() && set->Load(kTensors, weights).ok());
    return weights;
  }

  common::FaultFileSystem fs_;
  Store store_{fs_, "/store"};
  TestState state_ = TestState(kTotal);
  std::string name_;
};

TEST_F(ExportTest, OneFileHoldsEveryBit) {
  const auto exported = Export({});
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_THAT(exported->files, ElementsAre("model.safetensors"));
  EXPECT_EQ(exported->parameters, kTotal);
  EXPECT_EQ(exported->bytes, 4 * kTotal);
  EXPECT_EQ(Read(), state_.weights);
}

TEST_F(ExportTest, SeveralFilesHaveAnIndex) {
  const auto exported = Export({.max_file_bytes = 4 * 26});
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_THAT(exported->files, ElementsAre("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                                           "model.safetensors.index.json"));
  EXPECT_EQ(Read(), state_.weights);
  // A tensor is never split over two files.
  EXPECT_THAT(Export({.max_file_bytes = 1}, "/out/each")->files, SizeIs(4));
  EXPECT_EQ(Read("/out/each"), state_.weights);
}

TEST_F(ExportTest, SmallerTypesAreRounded) {
  ASSERT_TRUE(Export({.type = FloatType::kBf16}, "/out/bf16").ok());
  ASSERT_TRUE(Export({.type = FloatType::kF16}, "/out/f16").ok());
  const std::vector<float> bf16 = Read("/out/bf16"), f16 = Read("/out/f16");
  for (int64_t i = 0; i < kTotal; ++i) {
    EXPECT_EQ(bf16[i], FromBf16(ToBf16(state_.weights[i])));
    EXPECT_EQ(f16[i], FromHalf(ToHalf(state_.weights[i])));
  }
}

TEST_F(ExportTest, AWeightTooLargeForF16IsAnError) {
  state_.weights[40] = 70000;
  auto manifest = PutShards(store_, "job", 1, 20, state_, 5);
  manifest->tensors = kTensors;
  name_ = *store_.PutManifest(*manifest);
  const auto exported = Export({.type = FloatType::kF16});
  EXPECT_TRUE(absl::IsOutOfRange(exported.status()));
  EXPECT_THAT(std::string(exported.status().message()), HasSubstr("too large for f16"));
  EXPECT_THAT(*fs_.List("/out/set"), IsEmpty());
}

TEST_F(ExportTest, WhateverFailsNoHalfSetCanBeRead) {
  const auto dry = fs_.Clone();
  Store dry_store(*dry, "/store");
  ASSERT_TRUE(ExportWeights(dry_store, "job", name_, *dry, "/out/set", {.max_file_bytes = 100}).ok());
  const size_t operations = dry->operations().size();
  for (size_t at = 0; at < operations; ++at) {
    for (const bool for_ever : {false, true}) {
      const auto fs = fs_.Clone();
      Store store(*fs, "/store");
      fs->FailAt(static_cast<int64_t>(at), absl::ResourceExhaustedError("full"), for_ever);
      const auto exported = ExportWeights(store, "job", name_, *fs, "/out/set", {.max_file_bytes = 100});
      fs->Heal();
      const auto set = WeightSet::Open(*fs, "/out/set");
      ASSERT_TRUE(!exported.ok() || set.ok()) << at;
      std::vector<float> weights(kTotal);
      ASSERT_TRUE(!set.ok() || (set->Load(kTensors, weights).ok() && weights == state_.weights)) << at;
    }
  }
}

TEST_F(ExportTest, RefusesAFolderThatHoldsASetAndDamagedShards) {
  ASSERT_TRUE(Export({}).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(Export({}).status()));
  const std::string path = "/store/job/shards/" + store_.ReadManifest("job", name_)->shards[3].name;
  std::string content = fs_.Get(path);
  content.back() ^= 1;
  fs_.Put(path, content);
  EXPECT_TRUE(absl::IsDataLoss(Export({}, "/out/other").status()));
  EXPECT_THAT(*fs_.List("/out/other"), IsEmpty());
}

TEST_F(ExportTest, TensorsThatAreNotNamedOrDoNotCoverTheState) {
  auto manifest = PutShards(store_, "job", 1, 30, state_, 5);
  name_ = *store_.PutManifest(*manifest);
  EXPECT_TRUE(absl::IsFailedPrecondition(Export({}).status()));
  manifest->step = 31;
  manifest->tensors = {{"tok.weight", {7, 3}}};
  name_ = *store_.PutManifest(*manifest);
  EXPECT_FALSE(Export({}).ok());
}

}  // namespace
}  // namespace rekindle::checkpoint
