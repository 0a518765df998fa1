#include "cli/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace rekindle::cli {
namespace {

TEST(TextTest, TablePadsColumnsAndLeavesNoTrailingSpace) {
  EXPECT_EQ(Table({{"A", "LONG"}, {"bbb", "c"}}), "A    LONG\nbbb  c\n");
}

TEST(TextTest, TablePadsByColumnsOfTheTerminal) {
  EXPECT_EQ(Table({{"名前", "b"}, {"abcde", "c"}}), "名前   b\nabcde  c\n");
}

TEST(TextTest, BarFillsInEighths) {
  EXPECT_EQ(Bar(0, 10, 4), "░░░░");
  EXPECT_EQ(Bar(10, 10, 4), "████");
  EXPECT_EQ(Bar(1, 2, 4), "██░░");
  EXPECT_EQ(Bar(1, 32, 4), "▏░░░");
  EXPECT_EQ(Bar(20, 10, 2), "██");
  EXPECT_EQ(Bar(1, 0, 2), "░░");
}

TEST(TextTest, AsciiBarFillsInWholeCells) {
  EXPECT_EQ(AsciiBar(0, 10, 4), "[----]");
  EXPECT_EQ(AsciiBar(4, 10, 4), "[#---]");
  EXPECT_EQ(AsciiBar(20, 10, 4), "[####]");
  EXPECT_EQ(AsciiBar(1, 0, 2), "[--]");
}

TEST(TextTest, ShortNumbers) {
  EXPECT_EQ(Short(999), "999");
  EXPECT_EQ(Short(12345), "12.3k");
  EXPECT_EQ(Short(2.5e9), "2.5G");
}

TEST(TextTest, Durations) {
  EXPECT_EQ(DurationText(-1), "0s");
  EXPECT_EQ(DurationText(std::nan("")), "0s");
  EXPECT_EQ(DurationText(59.9), "59s");
  EXPECT_EQ(DurationText(60), "1m 00s");
  EXPECT_EQ(DurationText(3599), "59m 59s");
  EXPECT_EQ(DurationText(3720), "1h 02m");
  EXPECT_EQ(DurationText(86400 * 2 + 3 * 3600 + 59), "2d 03h");
  EXPECT_EQ(DurationText(INFINITY), "11574d 01h");
}

TEST(TextTest, ModelsOfRowsAndImagesCountSamples) {
  v1::JobSpec spec;
  EXPECT_EQ(UnitOf(spec), "token");
  spec.mutable_data()->mutable_table();
  EXPECT_EQ(UnitOf(spec), "sample");
  spec.mutable_data()->clear_table();
  spec.mutable_data()->mutable_images();
  EXPECT_EQ(UnitOf(spec), "sample");
}

TEST(TextTest, ForeignTextCannotDriveTheTerminal) {
  EXPECT_EQ(Printable("a\033[2Jb\n"), "a?[2Jb?");
  EXPECT_EQ(Printable(std::string("a\0b\x7f\tc", 6)), "a?b?\tc");
}

TEST(TextTest, OfC1NothingIsLeft) {
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "?31m");
  for (int c = 0x80; c < 0xA0; ++c) {
    EXPECT_EQ(Printable(std::string("\xc2") + static_cast<char>(c)), "?") << c;  // As UTF-8,
    EXPECT_EQ(Printable(std::string(1, static_cast<char>(c))), "?") << c;        // and as one byte.
  }
  EXPECT_EQ(Printable("\xc2\xa0"), "\xc2\xa0");  // The one after them, a space.
}

TEST(TextTest, ForeignTextCannotTurnTheWriting) {
  for (const char* turn : {"\u061C", "\u200E", "\u200F", "\u202A", "\u202B", "\u202C", "\u202D", "\u202E", "\u2066",
                           "\u2067", "\u2068", "\u2069"}) {
    EXPECT_EQ(Printable(std::string("a") + turn + "b"), "a?b");
  }
  EXPECT_EQ(Printable("a\u2028b\u2029c"), "a?b?c");
}

TEST(TextTest, OrdinaryTextStays) {
  for (const char* text : {"", "plain", "Zürich", "名前", "e\u0301", "\U0001F680", "שלום"})
    EXPECT_EQ(Printable(text), text);
}

TEST(TextTest, BytesThatAreNoUtf8AreReplacedOneByOne) {
  EXPECT_EQ(Printable("a\xff"
                      "b"),
            "a?b");
  EXPECT_EQ(Printable("a\xe8\xaa"), "a??");
  EXPECT_EQ(Printable("\xc0\x9b"), "??");       // ESC, in a form that is too long.
  EXPECT_EQ(Printable("\xed\xa0\x80"), "???");  // A surrogate.
}

TEST(TextTest, LinesStayLines) {
  EXPECT_EQ(PrintableLines(""), "");
  EXPECT_EQ(PrintableLines("a\nb\n"), "a\nb\n");
  EXPECT_EQ(PrintableLines("a\033\n\n\xc2\x9b"), "a?\n\n?");
}

TEST(TextTest, EndedStates) {
  EXPECT_TRUE(Ended(v1::SUCCEEDED));
  EXPECT_TRUE(Ended(v1::FAILED));
  EXPECT_TRUE(Ended(v1::CANCELLED));
  EXPECT_FALSE(Ended(v1::RUNNING));
  EXPECT_FALSE(Ended(v1::PAUSED));
}

}  // namespace
}  // namespace rekindle::cli
