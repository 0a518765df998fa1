#include "cli/list/fitted_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_split.h"
#include "cli/text/terminal_columns.h"

namespace rekindle::cli {
namespace {

size_t Widest(const std::string& text) {
  size_t widest = 0;
  for (const auto line : absl::StrSplit(text, '\n'))
    widest = std::max(widest, static_cast<size_t>(ColumnsOf(std::string(line))));
  return widest;
}

FittedTable Example() {
  FittedTable table({{.head = "NAME", .least = 6},
                     {.head = "STATE"},
                     {.head = "TEAM", .rank = 2},
                     {.head = "AGE", .rank = 1},
                     {.head = "REASON", .least = 8}});
  table.Add({"a-long-name", "RUNNING", "vision", "3m", "kept 3: the work is cut anew"});
  table.Add({"b", "PENDING", "", "10m", ""});
  return table;
}

TEST(FittedTableTest, EverythingWhereThereIsRoom) {
  const char* whole =
      "NAME         STATE    TEAM    AGE  REASON\n"
      "a-long-name  RUNNING  vision  3m   kept 3: the work is cut anew\n"
      "b            PENDING  -       10m  -\n";
  EXPECT_EQ(Example().Text(0), whole);
  EXPECT_EQ(Example().Text(80), whole);
}

TEST(FittedTableTest, CellsAreCutFromTheRight) {
  EXPECT_EQ(Example().Text(50),
            "NAME         STATE    TEAM    AGE  REASON\n"
            "a-long-name  RUNNING  vision  3m   kept 3: the w..\n"
            "b            PENDING  -       10m  -\n");
}

TEST(FittedTableTest, ColumnsAreLeftOutByRank) {
  EXPECT_EQ(Example().Text(32),
            "NAME      STATE    AGE  REASON\n"
            "a-long..  RUNNING  3m   kept 3..\n"
            "b         PENDING  10m  -\n");
  EXPECT_EQ(Example().Text(26),
            "NAME     STATE    REASON\n"
            "a-lon..  RUNNING  kept 3..\n"
            "b        PENDING  -\n");
}

TEST(FittedTableTest, NoLineIsLongerThanTheTerminal) {
  for (size_t width = 25; width < 90; ++width) EXPECT_LE(Widest(Example().Text(width)), width) << width;
}

TEST(FittedTableTest, AColumnThatSaysNothingIsLeftOut) {
  FittedTable table({{.head = "NAME"}, {.head = "TEAM", .rank = 1}});
  table.Add({"a", ""});
  EXPECT_EQ(table.Text(0), "NAME\na\n");
}

TEST(FittedTableTest, CharactersAreNotCutApart) {
  FittedTable table({{.head = "R", .least = 4}});
  table.Add({"äöüßäöü"});
  EXPECT_EQ(table.Text(5), "R\näöü..\n");
  EXPECT_EQ(ColumnsOf("äöü"), 3);
}

TEST(FittedTableTest, WideCharactersTakeTwoColumns) {
  FittedTable table({{.head = "TEAM", .least = 4}, {.head = "STATE"}});
  table.Add({"画像認識チーム", "RUNNING"});
  table.Add({"vision", "PENDING"});
  EXPECT_EQ(table.Text(0),
            "TEAM            STATE\n"
            "画像認識チーム  RUNNING\n"
            "vision          PENDING\n");
  EXPECT_EQ(table.Text(16),
            "TEAM     STATE\n"
            "画像..   RUNNING\n"
            "vision   PENDING\n");
  for (size_t width = 13; width < 30; ++width) EXPECT_LE(Widest(table.Text(width)), width);
}

TEST(FittedTableTest, Spans) {
  EXPECT_EQ(Span(-5), "0s");
  EXPECT_EQ(Span(59.9), "59s");
  EXPECT_EQ(Span(61), "1m");
  EXPECT_EQ(Span(3600), "1h");
  EXPECT_EQ(Span(12'120), "3h22m");
  EXPECT_EQ(Span(2 * 86400 + 4 * 3600), "2d4h");
  EXPECT_EQ(Span(200 * 86400.0 + 3600), "200d");
  EXPECT_EQ(Span(std::numeric_limits<double>::infinity()), "");
}

}  // namespace
}  // namespace rekindle::cli
