#include "cli/text/number_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rekindle::cli {
namespace {

TEST(NumberTextTest, ShortNumbers) {
  EXPECT_EQ(Short(999), "999");
  EXPECT_EQ(Short(12345), "12.3k");
  EXPECT_EQ(Short(2.5e9), "2.5G");
}

TEST(NumberTextTest, Durations) {
  EXPECT_EQ(DurationText(-1), "0s");
  EXPECT_EQ(DurationText(std::nan("")), "0s");
  EXPECT_EQ(DurationText(59.9), "59s");
  EXPECT_EQ(DurationText(60), "1m 00s");
  EXPECT_EQ(DurationText(3599), "59m 59s");
  EXPECT_EQ(DurationText(3720), "1h 02m");
  EXPECT_EQ(DurationText(86400 * 2 + 3 * 3600 + 59), "2d 03h");
  EXPECT_EQ(DurationText(INFINITY), "11574d 01h");
}

}  // namespace
}  // namespace rekindle::cli
