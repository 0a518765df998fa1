#include "worker/own_model/wire/description.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace rekindle::own_model {
namespace {

nlohmann::json Entry(const char* name, std::vector<int64_t> shape, int64_t offset, int64_t size,
                     const char* kind = "parameter") {
  return {{"name", name},     {"shape", shape}, {"dtype", "float32"},        {"kind", kind},
          {"offset", offset}, {"size", size},   {"decay", shape.size() > 1}, {"rule", "mean"}};
}

nlohmann::json Whole() {
  return {{"protocol", 1},
          {"pid", 5},
          {"python", "3.11.2"},
          {"torch", "2.11.0"},
          {"layout", {Entry("weight", {4, 3}, 0, 12), Entry("bias", {4}, 12, 4), Entry("mean", {}, 16, 1, "buffer")}},
          {"frozen", nlohmann::json::array()},
          {"samples", 100},
          {"validation_samples", 0},
          {"groups", nlohmann::json::array()},
          {"couples_samples", false},
          {"digest", "abc"}};
}

TEST(DescriptionTest, IsALayoutOfParametersAndThenBuffers) {
  const auto description = ParseDescription(Whole().dump());
  ASSERT_TRUE(description.ok()) << description.status();
  const train::ParameterLayout& layout = description->layout;
  EXPECT_EQ(layout.total, 17);
  ASSERT_EQ(layout.parameters.size(), 3u);
  EXPECT_EQ(layout.parameters[0].name, "weight");
  EXPECT_EQ(layout.parameters[0].shape, (std::vector<int64_t>{4, 3}));
  EXPECT_TRUE(layout.parameters[0].decay);
  EXPECT_FALSE(layout.parameters[1].decay);
  EXPECT_FALSE(layout.parameters[1].is_buffer());
  EXPECT_TRUE(layout.parameters[2].is_buffer());
  EXPECT_EQ(description->samples, 100);
  EXPECT_EQ(description->torch_version, "2.11.0");
}

TEST(DescriptionTest, RulesOfBuffersAreKnown) {
  for (const auto& [word, rule] : {std::pair{"mean", train::BufferRule::kMean},
                                   {"first", train::BufferRule::kFirst},
                                   {"frozen", train::BufferRule::kFrozen}}) {
    nlohmann::json json = Whole();
    json["layout"][2]["rule"] = word;
    EXPECT_EQ(ParseDescription(json.dump())->layout.parameters[2].rule, rule);
  }
}

TEST(DescriptionTest, WholeNumbersHaveNoMean) {
  for (const auto& [dtype, rule] : {std::pair{"int64", train::BufferRule::kFirst},
                                    {"bool", train::BufferRule::kFirst},
                                    {"bfloat16", train::BufferRule::kMean}}) {
    nlohmann::json json = Whole();
    json["layout"][2]["dtype"] = dtype;
    const auto description = ParseDescription(json.dump());
    ASSERT_TRUE(description.ok()) << description.status();
    EXPECT_EQ(description->layout.parameters[2].rule, rule) << dtype;
    EXPECT_EQ(description->layout.parameters[2].must_agree, rule == train::BufferRule::kFirst) << dtype;
    EXPECT_EQ(description->dtypes, (std::vector<std::string>{"float32", "float32", dtype}));
  }
  nlohmann::json frozen = Whole();
  frozen["layout"][2]["dtype"] = "int64";
  frozen["layout"][2]["rule"] = "frozen";
  EXPECT_EQ(ParseDescription(frozen.dump())->layout.parameters[2].rule, train::BufferRule::kFrozen);
  EXPECT_FALSE(ParseDescription(frozen.dump())->layout.parameters[2].must_agree);
}

TEST(DescriptionTest, FrozenParametersAndGroupsAreTaken) {
  nlohmann::json json = Whole();
  json["frozen"] = {{{"name", "teacher"}, {"shape", {10, 2}}, {"dtype", "bfloat16"}}};
  json["groups"] = {{{"pattern", "*.bias"}, {"options", {{"weight_decay", 0.0}}}}};
  const auto description = ParseDescription(json.dump());
  ASSERT_TRUE(description.ok()) << description.status();
  ASSERT_EQ(description->frozen.size(), 1u);
  EXPECT_EQ(description->frozen[0].name, "teacher");
  EXPECT_EQ(description->frozen[0].bytes, 40);
  EXPECT_EQ(description->groups,
            (std::vector<OptimizerGroup>{{.pattern = "*.bias", .options = {{"weight_decay", "0.0"}}}}));
}

TEST(DescriptionTest, AnotherModuleIsToldFromTheOneBefore) {
  const Description before = *ParseDescription(Whole().dump());
  EXPECT_EQ(DifferenceOf(before, before), "");
  const auto difference = [&](const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json json = Whole();
    change(json);
    return DifferenceOf(before, *ParseDescription(json.dump()));
  };
  EXPECT_EQ(difference([](auto& j) { j["samples"] = 5; }), "its number of samples is 5, and was 100");
  EXPECT_EQ(difference([](auto& j) { j["digest"] = "other"; }),
            "its digest of weights and buffers is other, and was abc");
  // A process that lies about its digest does not get another layout.
  EXPECT_NE(difference([](auto& j) { j["layout"][1]["name"] = "other"; }), "");
  for (const auto& [field, value] : {std::pair<const char*, nlohmann::json>{"validation_samples", 3},
                                     {"torch", "2.12.0"},
                                     {"python", "3.12.0"},
                                     {"couples_samples", true}}) {
    EXPECT_NE(difference([&, &field = field, &value = value](auto& j) { j[field] = value; }), "") << field;
  }
  EXPECT_NE(difference([](auto& j) { j["groups"] = {{{"pattern", "*"}, {"options", {{"lr", 1}}}}}; }), "");
}

TEST(DescriptionTest, ADifferenceIsToldInFewWords) {
  nlohmann::json json = Whole();
  const nlohmann::json group = {{"pattern", std::string(1000, 'p')}, {"options", nlohmann::json::object()}};
  for (int i = 0; i < 1000; ++i) json["groups"].push_back(group);
  const auto many = ParseDescription(json.dump());
  ASSERT_TRUE(many.ok()) << many.status();
  EXPECT_LT(DifferenceOf(*ParseDescription(Whole().dump()), *many).size(), 1000u);
}

TEST(DescriptionTest, WhatLiesTooDeepIsNotKept) {
  nlohmann::json json = Whole();
  json["more"] = 0;
  std::string text = json.dump();
  constexpr size_t kDepth = 100'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  text.replace(text.find("\"more\":0") + 7, 1, deep);
  EXPECT_TRUE(ParseDescription(text).ok());
  text = json.dump();
  text.replace(text.find("[4,3]"), 5, deep);
  EXPECT_FALSE(ParseDescription(text).ok());
}

TEST(DescriptionTest, WhatDoesNotFitTogetherIsRefused) {
  const auto is_refused = [](const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json json = Whole();
    change(json);
    return absl::IsInvalidArgument(ParseDescription(json.dump()).status());
  };
  EXPECT_TRUE(is_refused([](auto& j) { j["protocol"] = 2; }));
  EXPECT_TRUE(is_refused([](auto& j) { j.erase("torch"); }));
  EXPECT_TRUE(is_refused([](auto& j) { j["samples"] = 0; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["samples"] = "many"; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"] = nlohmann::json::array(); }));
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"] = 5; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"][1]["offset"] = 11; })) << "it overlaps";
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"][1]["size"] = 5; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"][1]["shape"] = {-4}; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"][1]["shape"] = {int64_t{1} << 32, int64_t{1} << 32}; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"][1]["name"] = "weight"; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"][1]["name"] = ""; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"][0]["kind"] = "buffer"; })) << "parameters come first";
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"][0]["dtype"] = "int64"; })) << "such a parameter has no gradient";
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"][2]["dtype"] = "float64"; }));
  for (const char* field : {"offset", "size"}) {
    EXPECT_TRUE(is_refused([&](auto& j) { j["layout"][1][field] = j["layout"][1][field].template get<double>(); }));
    EXPECT_TRUE(is_refused([&](auto& j) { j["layout"][1][field] = 1e300; }));
  }
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"][1]["shape"] = {4.0}; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"][1]["shape"] = 4; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["samples"] = 1e300; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["samples"] = ~uint64_t{0}; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["protocol"] = (int64_t{1} << 32) + 1; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["layout"][1]["name"] = "\x1b[31mred"; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["frozen"] = 5; }));
  EXPECT_TRUE(is_refused([](auto& j) {
    j["frozen"] = {{{"name", "bias"}, {"shape", {1}}, {"dtype", "float32"}}};
  })) << "a trained parameter has this name";
  EXPECT_TRUE(is_refused([](auto& j) { j["groups"] = nullptr; }));
  EXPECT_TRUE(is_refused([](auto& j) { j["groups"] = {{{"pattern", "*"}, {"options", 5}}}; }));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseDescription("").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseDescription("[]").status()));
}

}  // namespace
}  // namespace rekindle::own_model
