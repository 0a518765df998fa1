// Reads sets of weights as other programs write them. Sets that fit the model are read. Sets that do not fit are
// refused with a list of the differences, and malformed ones are refused, too.
#include "checkpoint/weights/weight_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "absl/strings/str_cat.h"
#include "checkpoint/weights/float_types.h"
#include "common/testing/fault_file.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Tensor {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};

template <typename T>
std::string Bytes(std::initializer_list<T> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::copy(values.begin(), values.end(), reinterpret_cast<T*>(bytes.data()));
  return bytes;
}

std::string FileOf(const std::vector<Tensor>& tensors) {
  std::vector<TensorEntry> entries;
  std::string data;
  for (const Tensor& tensor : tensors) {
    entries.push_back({.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape});
    data += tensor.bytes;
  }
  return *EncodeSafetensorsHeader({{"format", "pt"}}, entries, 8) + data;
}

const std::vector<TensorInfo> kWanted = {{"a", {2}}, {"b", {1, 2}}, {"c", {}}};

class WeightSetTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(common::CreateFolders(fs_, "/set").ok()); }
  void PutGoodOnes() {
    fs_.Put("/set/model-2.safetensors", FileOf({{"a", "F32", {2}, Bytes<float>({1.5f, -2})}}));
    fs_.Put("/set/model-1.safetensors",
            FileOf({{"c", "F64", {}, Bytes<double>({0.1})}, {"b", "BF16", {1, 2}, Bytes<uint16_t>({0x3f80, 0xc000})}}));
    fs_.Put("/set/model.safetensors.index.json",
            R"({"metadata":{"total_size":1},"weight_map":{"a":"model-2.safetensors","b":"model-1.safetensors",)"
            R"("c":"model-1.safetensors"}})");
  }
  absl::Status Opens(const std::string& path) { return WeightSet::Open(fs_, path).status(); }

  common::FaultFileSystem fs_;
};

TEST_F(WeightSetTest, ReadsEveryTypeFromSeveralFiles) {
  PutGoodOnes();
  const auto set = WeightSet::Open(fs_, "/set");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_TRUE(set->Compare(kWanted).empty());
  std::vector<float> weights(5);
  const auto digest = set->Load(kWanted, weights);
  ASSERT_TRUE(digest.ok()) << digest.status();
  EXPECT_THAT(weights, ElementsAre(1.5f, -2, 1, -2, 0.1f));
  EXPECT_EQ(*digest, *set->Digest());
  // A change of any byte changes the digest of the set.
  std::string changed = fs_.Get("/set/model-2.safetensors");
  changed.back() ^= 1;
  fs_.Put("/set/model-2.safetensors", changed);
  EXPECT_NE(*digest, *WeightSet::Open(fs_, "/set")->Digest());
}

TEST_F(WeightSetTest, ASingleFileByNameOrInItsFolder) {
  fs_.Put("/set/model.safetensors", FileOf({{"a", "F16", {2}, Bytes<uint16_t>({0x3c00, 0x0001})}}));
  for (const char* path : {"/set", "/set/model.safetensors"}) {
    const auto set = WeightSet::Open(fs_, path);
    ASSERT_TRUE(set.ok()) << set.status();
    std::vector<float> weights(2);
    ASSERT_TRUE(set->Load({{"a", {2}}}, weights).ok());
    EXPECT_THAT(weights, ElementsAre(1, 0x1p-24f));
  }
}

TEST_F(WeightSetTest, ListsWhatDoesNotFit) {
  PutGoodOnes();
  const auto set = WeightSet::Open(fs_, "/set");
  const std::vector<TensorInfo> wanted = {{"a", {2, 1}}, {"b", {1, 2}}, {"d", {3}}};
  const Differences differences = set->Compare(wanted);
  EXPECT_THAT(differences.missing, ElementsAre("d [3]"));
  EXPECT_THAT(differences.extra, ElementsAre("c []"));
  EXPECT_THAT(differences.misshaped, ElementsAre("a: [2] instead of [2, 1]"));
  EXPECT_EQ(differences.ToString(),
            "missing (1):\n  d [3]\nextra (1):\n  c []\nof another shape (1):\n  a: [2] instead of [2, 1]");
  std::vector<float> weights(7);
  const absl::Status loaded = set->Load(wanted, weights).status();
  EXPECT_TRUE(absl::IsInvalidArgument(loaded));
  EXPECT_THAT(std::string(loaded.message()), HasSubstr("d [3]"));
}

TEST_F(WeightSetTest, PublishedNamesAreTheModelsOwnAndStrangersArePassedOver) {
  const auto rename = [](const std::string& name) {
    return name == "counter" ? "" : name.substr(name.starts_with("prefix.") ? 7 : 0);
  };
  const Tensor counter{"counter", "I64", {1}, Bytes<int64_t>({3})};
  fs_.Put("/set/model.safetensors", FileOf({counter, {"prefix.a", "F32", {1}, Bytes<float>({5})}}));
  const auto set = WeightSet::Open(fs_, "/set", rename);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_TRUE(set->Compare({{"a", {1}}}).empty());
  std::vector<float> weights(1);
  EXPECT_EQ(*set->Load({{"a", {1}}}, weights), *set->Digest());
  EXPECT_THAT(weights, ElementsAre(5));
  fs_.Put("/set/model.safetensors",
          FileOf({{"a", "F32", {1}, Bytes<float>({1})}, {"prefix.a", "F32", {1}, Bytes<float>({5})}}));
  EXPECT_THAT(std::string(WeightSet::Open(fs_, "/set", rename).status().message()),
              HasSubstr("two of its tensors are the model's 'a'"));
}

TEST_F(WeightSetTest, ValuesThatAreNotFiniteAreRefused) {
  for (const std::string& bytes : {Bytes<double>({1e300}), Bytes<double>({std::nan("")})}) {
    fs_.Put("/set/model.safetensors", FileOf({{"a", "F64", {1}, bytes}}));
    std::vector<float> weights(1);
    const absl::Status loaded = WeightSet::Open(fs_, "/set")->Load({{"a", {1}}}, weights).status();
    EXPECT_THAT(std::string(loaded.message()), HasSubstr("'a' has a value that is not finite"));
  }
}

TEST_F(WeightSetTest, WhatIsMalformedIsNamed) {
  EXPECT_TRUE(absl::IsNotFound(Opens("/nowhere")));
  EXPECT_TRUE(absl::IsNotFound(Opens("/set")));
  fs_.Put("/set/model.safetensors", FileOf({{"a", "I32", {1}, Bytes<int32_t>({1})}}));
  EXPECT_THAT(std::string(Opens("/set").message()), HasSubstr("tensor 'a' is I32; use F32"));
  fs_.Put("/set/model.safetensors", FileOf({{"a\x1b[2J", "F32", {1}, Bytes<float>({1})}}));
  EXPECT_THAT(std::string(Opens("/set").message()), HasSubstr("not of printable ASCII"));
  fs_.Put("/set/model.safetensors", "junk");
  EXPECT_THAT(std::string(Opens("/set").message()), HasSubstr("/set/model.safetensors: "));
  PutGoodOnes();
  fs_.Put("/set/model-1.safetensors", fs_.Get("/set/model-2.safetensors"));
  EXPECT_THAT(std::string(Opens("/set").message()), HasSubstr("tensor 'a' is in /set/model-1.safetensors, too"));
  for (const char* index :
       {"", "[]", "{}", R"({"weight_map":[]})", R"({"weight_map":{}})", R"({"weight_map":{"a":1}})",
        R"({"weight_map":{"a":"../secret.safetensors"}})", R"({"weight_map":{"a":"/etc/passwd"}})"}) {
    fs_.Put("/set/model.safetensors.index.json", index);
    EXPECT_TRUE(absl::IsInvalidArgument(Opens("/set"))) << index;
  }
}

TEST_F(WeightSetTest, NoDamageCrashesOrPasses) {
  PutGoodOnes();
  const std::string good = fs_.Get("/set/model-1.safetensors"), index = fs_.Get("/set/model.safetensors.index.json");
  const std::string digest = *WeightSet::Open(fs_, "/set")->Digest();
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string file = good, text = index;
    std::string& damaged = trial % 2 ? file : text;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    if (trial % 5 == 0) damaged.resize(random() % damaged.size());
    fs_.Put("/set/model-1.safetensors", file);
    fs_.Put("/set/model.safetensors.index.json", text);
    std::vector<float> weights(5);
    const auto set = WeightSet::Open(fs_, "/set");
    const auto loaded = set.ok() ? set->Load(kWanted, weights) : set.status();
    ASSERT_TRUE(!loaded.ok() || file == good || *loaded != digest) << trial;
  }
}

TEST(FloatTypesTest, EveryHalfComesBack) {
  for (uint32_t half = 0; half <= 0xffff; ++half) {
    const float value = FromHalf(static_cast<uint16_t>(half));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(FromHalf(ToHalf(value))));
    } else {
      EXPECT_EQ(ToHalf(value), half);
      EXPECT_EQ(std::isinf(value), (half & 0x7fff) == 0x7c00);
    }
    const float wide = FromBf16(static_cast<uint16_t>(half));
    EXPECT_TRUE(std::isnan(wide) || ToBf16(wide) == half);
  }
}

TEST(FloatTypesTest, RoundsToTheNearestAndTiesToEven) {
  // A value halfway between two FP16 values is rounded to the even one. For this value the even one is the lower one.
  EXPECT_EQ(FromHalf(ToHalf(1 + 0x1p-11f)), 1);
  // A value halfway between two FP16 values is rounded to the even one. For this value the even one is the higher one.
  EXPECT_EQ(FromHalf(ToHalf(1 + 3 * 0x1p-11f)), 1 + 0x1p-9f);
  EXPECT_EQ(FromHalf(ToHalf(1 + 0x1.1p-11f)), 1 + 0x1p-10f);
  EXPECT_EQ(FromHalf(ToHalf(65519.0f)), 65504);
  EXPECT_TRUE(std::isinf(FromHalf(ToHalf(65520.0f))));
  // FP16's denormals are rounded to nearest as well.
  EXPECT_EQ(FromHalf(ToHalf(-0x1.8p-24f)), -0x1p-23f);
  EXPECT_EQ(FromHalf(ToHalf(0x1p-25f)), 0);
  EXPECT_EQ(FromHalf(ToHalf(0x1.fffp-15f)), 0x1p-14f);
  EXPECT_EQ(FromBf16(ToBf16(1 + 0x1p-8f)), 1);
  EXPECT_EQ(FromBf16(ToBf16(1 + 3 * 0x1p-8f)), 1 + 0x1p-6f);
  EXPECT_TRUE(std::isinf(FromBf16(ToBf16(std::numeric_limits<float>::max()))));
  EXPECT_TRUE(std::isnan(FromBf16(ToBf16(std::nanf("")))));
  EXPECT_TRUE(std::isnan(FromHalf(ToHalf(std::nanf("")))));
}

}  // namespace
}  // namespace rekindle::checkpoint
