#include "cli/text/terminal_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::cli {
namespace {

using testing::ElementsAre;

TEST(Utf8Test, ColumnsAreNotBytes) {
  EXPECT_EQ(ColumnsOf(""), 0);
  EXPECT_EQ(ColumnsOf("step"), 4);
  EXPECT_EQ(ColumnsOf("█░▏"), 3);
  EXPECT_EQ(ColumnsOf("名前"), 4);
  EXPECT_EQ(ColumnsOf("e\u0301"), 1);
  EXPECT_EQ(ColumnsOf("a\xFF"
                      "b"),
            3);
}

TEST(Utf8Test, CutsBetweenCodePoints) {
  EXPECT_EQ(CutTo("abcdef", 6), "abcdef");
  EXPECT_EQ(CutTo("abcdef", 5), "abcd…");
  EXPECT_EQ(CutTo("名前名", 6), "名前名");
  EXPECT_EQ(CutTo("名前名", 5), "名前…");
  EXPECT_EQ(CutTo("名前名", 4), "名…");
  EXPECT_EQ(CutTo("e\u0301e\u0301e\u0301", 2), "e\u0301…");
  EXPECT_EQ(CutTo("ab", 1), "…");
  EXPECT_EQ(CutTo("ab", 0), "");
}

TEST(Utf8Test, AsciiAlone) { EXPECT_EQ(ToAscii("a名e\u0301\xff\tb"), "a?e??\tb"); }

TEST(Utf8Test, PadsByColumns) {
  EXPECT_EQ(PadTo("名", 4), "名  ");
  EXPECT_EQ(PadTo("名前名", 4), "名… ");
  EXPECT_EQ(PadTo("abc", 2), "a…");
}

TEST(Utf8Test, WrapsAtSpaces) {
  EXPECT_THAT(Wrap("one two three", 7, 3), ElementsAre("one two", "three", ""));
  EXPECT_THAT(Wrap("one two three", 6, 2), ElementsAre("one", "two t…"));
  EXPECT_THAT(Wrap("名前名前", 5, 2), ElementsAre("名前", "名前"));
  EXPECT_THAT(Wrap("", 5, 1), ElementsAre(""));
  EXPECT_THAT(Wrap("abc", 5, 0), ElementsAre());
}

}  // namespace
}  // namespace rekindle::cli
