#include "common/check/check.h"

#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

TEST(CheckTest, WhatHoldsGoesOn) { Check(1 + 1 == 2, "two is the sum of one and one"); }

TEST(CheckDeathTest, WhatDoesNotHoldEndsTheProcessWithItsSentenceAndPlace) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(Check(1 + 1 == 3, "three is the sum of one and one"),
               "check_test.cc:[0-9]+: this must hold and does not: three is the sum of one and one");
}

}  // namespace
}  // namespace rekindle::common
