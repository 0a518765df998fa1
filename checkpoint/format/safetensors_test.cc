#include "checkpoint/format/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/testing/fuzz_testing.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::HasSubstr;

TEST(SafetensorsTest, RoundTrip) {
  const std::vector<TensorEntry> tensors = {{.name = "a \"quoted\"", .dtype = "F32", .shape = {2, 3}},
                                            {.name = "scalar", .dtype = "I64", .shape = {}},
                                            {.name = "empty", .dtype = "BF16", .shape = {0, 5}}};
  const auto head = EncodeSafetensorsHeader({{"format", "pt"}}, tensors);
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ(head->size() % kSafetensorsAlignment, 0u);
  const auto header = ParseSafetensorsHeader(AsBytes(*head), head->size() + 32);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->metadata.at("format"), "pt");
  EXPECT_EQ(header->Find("scalar")->begin, 24u);
  EXPECT_EQ(header->Find("scalar")->end, 32u);
  EXPECT_EQ(header->Find("none"), nullptr);
  EXPECT_EQ(header->data_offset, head->size());
  EXPECT_FALSE(ParseSafetensorsHeader(AsBytes(*head), head->size() + 31).ok());
  EXPECT_FALSE(ParseSafetensorsHeader(AsBytes(*head), head->size() + 33).ok());
}

std::string WithHeader(const std::string& json) {
  std::string out(8, '\0');
  for (int i = 0; i < 8; ++i) out[i] = static_cast<char>(json.size() >> (8 * i) & 0xff);
  return out + json;
}

TEST(SafetensorsTest, RefusesWhatIsMalformed) {
  const auto why = [](const std::string& json, uint64_t data) {
    const std::string head = WithHeader(json);
    return std::string(ParseSafetensorsHeader(AsBytes(head), head.size() + data).status().message());
  };
  EXPECT_EQ(why("{}", 0), "");
  EXPECT_EQ(why(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}   )", 8), "");
  EXPECT_THAT(why(R"( {})", 0), HasSubstr("begin with '{'"));
  EXPECT_THAT(why(R"([])", 0), HasSubstr("begin with '{'"));
  EXPECT_THAT(why(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                  R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                  8),
              HasSubstr("twice"));
  EXPECT_THAT(why(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})", 8), HasSubstr("nothing else"));
  EXPECT_THAT(why(R"({"a":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})", 8), HasSubstr("dtype"));
  EXPECT_THAT(why(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8), HasSubstr("dimension"));
  EXPECT_THAT(why(R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8), HasSubstr("dimension"));
  EXPECT_THAT(why(R"({"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})", 0),
              HasSubstr("overflows"));
  EXPECT_THAT(why(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0),
              HasSubstr("overflows"));
  EXPECT_THAT(why(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4), HasSubstr("disagree"));
  EXPECT_THAT(why(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8), HasSubstr("disagree"));
  EXPECT_THAT(why(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8), HasSubstr("gap"));
  EXPECT_THAT(why(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                  R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                  12),
              HasSubstr("overlap"));
  EXPECT_THAT(why(R"({"__metadata__":{"a":1}})", 0), HasSubstr("__metadata__"));
  EXPECT_FALSE(ParseSafetensorsHeader({}, 0).ok());
  EXPECT_FALSE(ParseSafetensorsHeader(AsBytes(std::string(8, '\xff')), 1 << 20).ok());
  EXPECT_FALSE(EncodeSafetensorsHeader(
                   {}, {{.name = "a", .dtype = "F32", .shape = {1}}, {.name = "a", .dtype = "F32", .shape = {1}}})
                   .ok());
}

}  // namespace
}  // namespace rekindle::checkpoint
