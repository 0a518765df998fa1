#include "cli/text.h"

#include <gtest/gtest.h>

namespace rekindle::cli {
namespace {

TEST(TextTest, TablePadsColumnsAndLeavesNoTrailingSpace) {
  EXPECT_EQ(Table({{"A", "LONG"}, {"bbb", "c"}}), "A    LONG\nbbb  c\n");
}

TEST(TextTest, BarFillsInEighths) {
  EXPECT_EQ(Bar(0, 10, 4), "░░░░");
  EXPECT_EQ(Bar(10, 10, 4), "████");
  EXPECT_EQ(Bar(1, 2, 4), "██░░");
  EXPECT_EQ(Bar(1, 32, 4), "▏░░░");
  EXPECT_EQ(Bar(20, 10, 2), "██");
  EXPECT_EQ(Bar(1, 0, 2), "░░");
}

TEST(TextTest, ShortNumbers) {
  EXPECT_EQ(Short(999), "999");
  EXPECT_EQ(Short(12345), "12.3k");
  EXPECT_EQ(Short(2.5e9), "2.5G");
}

TEST(TextTest, ForeignTextCannotDriveTheTerminal) { EXPECT_EQ(Printable("a\033[2Jb\n"), "a?[2Jb?"); }

TEST(TextTest, EndedStates) {
  EXPECT_TRUE(Ended(v1::SUCCEEDED));
  EXPECT_TRUE(Ended(v1::FAILED));
  EXPECT_TRUE(Ended(v1::CANCELLED));
  EXPECT_FALSE(Ended(v1::RUNNING));
  EXPECT_FALSE(Ended(v1::PAUSED));
}

}  // namespace
}  // namespace rekindle::cli
