#include "common/text/duration.h"

#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

TEST(DurationTest, NumberAndUnit) {
  EXPECT_EQ(ParseDuration("90d").value(), 90 * 24 * 3600);
  EXPECT_EQ(ParseDuration("1.5h").value(), 5400);
  EXPECT_EQ(ParseDuration("30m").value(), 1800);
  EXPECT_EQ(ParseDuration("0s").value(), 0);
}

TEST(DurationTest, AnythingElseIsRefused) {
  for (const char* bad : {"", "d", "90", "-1d", "+1d", " 1d", "1d ", "1 d", "1w", "nand", "infd", "1e999d", "0x1d x"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseDuration(bad).status())) << bad;
  }
}

}  // namespace
}  // namespace rekindle::common
