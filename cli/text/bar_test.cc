#include "cli/text/bar.h"

#include <gtest/gtest.h>

namespace rekindle::cli {
namespace {

TEST(BarTest, BarFillsInEighths) {
  EXPECT_EQ(Bar(0, 10, 4), "░░░░");
  EXPECT_EQ(Bar(10, 10, 4), "████");
  EXPECT_EQ(Bar(1, 2, 4), "██░░");
  EXPECT_EQ(Bar(1, 32, 4), "▏░░░");
  EXPECT_EQ(Bar(20, 10, 2), "██");
  EXPECT_EQ(Bar(1, 0, 2), "░░");
}

TEST(BarTest, AsciiBarFillsInWholeCells) {
  EXPECT_EQ(AsciiBar(0, 10, 4), "[----]");
  EXPECT_EQ(AsciiBar(4, 10, 4), "[#---]");
  EXPECT_EQ(AsciiBar(20, 10, 4), "[####]");
  EXPECT_EQ(AsciiBar(1, 0, 2), "[--]");
}

}  // namespace
}  // namespace rekindle::cli
