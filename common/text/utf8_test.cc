#include "common/text/utf8.h"

#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

std::optional<char32_t> First(std::string_view text, size_t* taken) {
  std::string_view rest = text;
  const std::optional<char32_t> point = TakeCodePoint(&rest);
  *taken = text.size() - rest.size();
  return point;
}

TEST(Utf8Test, CodePointsOfAllLengths) {
  size_t taken = 0;
  EXPECT_EQ(First("a!", &taken), U'a');
  EXPECT_EQ(taken, 1u);
  EXPECT_EQ(First("é!", &taken), U'é');
  EXPECT_EQ(taken, 2u);
  EXPECT_EQ(First("語!", &taken), U'語');
  EXPECT_EQ(taken, 3u);
  EXPECT_EQ(First("\U0001F680!", &taken), U'\U0001F680');
  EXPECT_EQ(taken, 4u);
  EXPECT_EQ(First("\xF4\x8F\xBF\xBF", &taken), U'\U0010FFFF');
}

TEST(Utf8Test, WhatIsNoneTakesOneByte) {
  for (const std::string_view wrong :
       {"\x80", "\xBF\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xE8\xAA",
        "\xE8\xAA(", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFF"}) {
    size_t taken = 0;
    EXPECT_EQ(First(wrong, &taken), std::nullopt) << testing::PrintToString(wrong);
    EXPECT_EQ(taken, 1u);
  }
}

TEST(Utf8Test, TheFirstByteThatIsNone) {
  EXPECT_EQ(FindInvalidUtf8(""), std::nullopt);
  EXPECT_EQ(FindInvalidUtf8("caf\u00E9 \U0001F680"), std::nullopt);
  EXPECT_EQ(FindInvalidUtf8("caf\xE9"), 3u);
  EXPECT_EQ(FindInvalidUtf8("\u00E9\xFFz"), 2u);
}

}  // namespace
}  // namespace rekindle::common
