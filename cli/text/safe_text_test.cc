#include "cli/text/safe_text.h"

#include <gtest/gtest.h>

#include <string>

namespace rekindle::cli {
namespace {

TEST(SafeTextTest, ForeignTextCannotDriveTheTerminal) {
  EXPECT_EQ(Printable("a\033[2Jb\n"), "a?[2Jb?");
  EXPECT_EQ(Printable(std::string("a\0b\x7f\tc", 6)), "a?b?\tc");
}

TEST(SafeTextTest, OfC1NothingIsLeft) {
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "?31m");
  for (int c = 0x80; c < 0xA0; ++c) {
    // Each control character is tested as UTF-8 and as one byte.
    EXPECT_EQ(Printable(std::string("\xc2") + static_cast<char>(c)), "?") << c;
    EXPECT_EQ(Printable(std::string(1, static_cast<char>(c))), "?") << c;
  }
  // U+00A0, the first character after the C1 controls, is a space and no control character, so it stays.
  EXPECT_EQ(Printable("\xc2\xa0"), "\xc2\xa0");
}

TEST(SafeTextTest, ForeignTextCannotTurnTheWriting) {
  for (const char* turn : {"\u061C", "\u200E", "\u200F", "\u202A", "\u202B", "\u202C", "\u202D", "\u202E", "\u2066",
                           "\u2067", "\u2068", "\u2069"}) {
    EXPECT_EQ(Printable(std::string("a") + turn + "b"), "a?b");
  }
  EXPECT_EQ(Printable("a\u2028b\u2029c"), "a?b?c");
}

TEST(SafeTextTest, OrdinaryTextStays) {
  for (const char* text : {"", "plain", "Zürich", "名前", "e\u0301", "\U0001F680", "שלום"})
    EXPECT_EQ(Printable(text), text);
}

TEST(SafeTextTest, BytesThatAreNoUtf8AreReplacedOneByOne) {
  EXPECT_EQ(Printable("a\xff"
                      "b"),
            "a?b");
  EXPECT_EQ(Printable("a\xe8\xaa"), "a??");
  // The bytes C0 9B are ESC in an overlong form.
  EXPECT_EQ(Printable("\xc0\x9b"), "??");
  // The bytes ED A0 80 are a surrogate.
  EXPECT_EQ(Printable("\xed\xa0\x80"), "???");
}

TEST(SafeTextTest, LinesStayLines) {
  EXPECT_EQ(PrintableLines(""), "");
  EXPECT_EQ(PrintableLines("a\nb\n"), "a\nb\n");
  EXPECT_EQ(PrintableLines("a\033\n\n\xc2\x9b"), "a?\n\n?");
}

}  // namespace
}  // namespace rekindle::cli
