#include "coordinator/core/state/recent.h"

#include <gtest/gtest.h>

namespace rekindle::core {
namespace {

TEST(RecentTest, KeepsAsManyAsItMayAndOnePastThatForgetsTheOldest) {
  Recent<int> recent(3);
  EXPECT_FALSE(recent.Set("z", 1));
  EXPECT_FALSE(recent.Set("a", 2));
  EXPECT_FALSE(recent.Set("m", 3));
  EXPECT_TRUE(recent.Set("b", 4));
  EXPECT_EQ(recent.size(), 3u);
  EXPECT_FALSE(recent.contains("z")) << "not the first in order of the names";
  ASSERT_TRUE(recent.contains("a"));
  EXPECT_EQ(*recent.Find("b"), 4);
}

TEST(RecentTest, WhatIsSetAgainIsTheNewestAndTakesNobodysPlace) {
  Recent<int> recent(2);
  recent.Set("a", 1);
  recent.Set("b", 2);
  EXPECT_FALSE(recent.Set("a", 3));
  EXPECT_TRUE(recent.Set("c", 4));
  EXPECT_EQ(recent.Find("b"), nullptr);
  EXPECT_EQ(*recent.Find("a"), 3);
}

TEST(RecentTest, WhatIsErasedLeavesRoom) {
  Recent<int> recent(1);
  recent.Set("a", 1);
  EXPECT_TRUE(recent.erase("a"));
  EXPECT_FALSE(recent.erase("a"));
  EXPECT_FALSE(recent.Set("b", 2));
  recent.clear();
  EXPECT_TRUE(recent.empty());
}

TEST(RecentTest, ACopyIsItsOwn) {
  Recent<int> recent(2);
  recent.Set("a", 1);
  Recent<int> copy = recent;
  copy.Set("b", 2);
  copy.Set("c", 3);
  EXPECT_TRUE(recent.contains("a"));
  EXPECT_FALSE(copy.contains("a"));
}

}  // namespace
}  // namespace rekindle::core
