#include "worker/agent/decisions/alone.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace rekindle::agent {
namespace {

TEST(Alone, CountsFromTheSendingOfTheRequest) {
  Alone alone(100, 0);
  EXPECT_TRUE(std::isinf(alone.until()));
  alone.Heard(200, 3600, std::nullopt, false);
  EXPECT_EQ(alone.until(), 3800);
  alone.Heard(300, 3600, std::nullopt, false);
  EXPECT_EQ(alone.until(), 3900);
}

TEST(Alone, WhatItsJobsMaySpendEndsItSooner) {
  Alone alone(0, 0);
  alone.Heard(100, 3600, 60, false);
  EXPECT_EQ(alone.until(), 160);
  // The answer to the request sent at 110 says that the jobs may spend no more, so the machine may not run alone at
  // all.
  alone.Heard(110, 3600, -5, false);
  EXPECT_EQ(alone.until(), 110);
  alone.Heard(120, 3600, std::nullopt, false);
  EXPECT_EQ(alone.until(), 3720);
}

TEST(Alone, WhoeverDoesNotKnowItsJobsGivesThemNothing) {
  Alone alone(0, 0);
  alone.Heard(100, 3600, 60, false);
  alone.Heard(130, 3600, std::nullopt, true);
  EXPECT_EQ(alone.until(), 160);
}

TEST(Alone, WhatItsJobsMaySpendEndsItAlsoWhereItMayBeAloneForEver) {
  Alone alone(0, 0);
  alone.Heard(100, 0, 60, false);
  EXPECT_EQ(alone.until(), 160);
  alone.Heard(100, 0, std::nullopt, false);
  EXPECT_TRUE(std::isinf(alone.until()));
}

TEST(Alone, OneThatHearsOfNobodyFromTheStartEndsWhereItIsToldTo) {
  Alone alone(1000, 300);
  EXPECT_EQ(alone.until(), 1300);
  alone.Heard(1100, 0, std::nullopt, false);
  EXPECT_TRUE(std::isinf(alone.until()));
}

TEST(Alone, TheNextAgentOfTheSameBootGoesOnCounting) {
  Alone before(0, 0);
  before.Heard(100, 3600, 60, false);
  Alone after(140, 0);
  after.Recall(before.Text("b1"), "b1", 140);
  EXPECT_EQ(after.until(), 160);
  Alone never(0, 0);
  never.Heard(100, 0, std::nullopt, false);
  after.Recall(never.Text("b1"), "b1", 140);
  EXPECT_TRUE(std::isinf(after.until()));
}

TEST(Alone, AfterAnotherBootItMayBeAloneForAsLongAgain) {
  Alone before(0, 0);
  before.Heard(100, 3600, 60, false);
  Alone after(7, 0);
  after.Recall(before.Text("b1"), "b2", 7);
  EXPECT_EQ(after.until(), 3607);
  Alone sooner(7, 300);
  sooner.Recall(before.Text("b1"), "b2", 7);
  EXPECT_EQ(sooner.until(), 307);
}

TEST(Alone, WhatIsDamagedCountsForNothing) {
  Alone before(0, 0);
  before.Heard(100, 3600, 60, false);
  for (const std::string& text : {std::string(), std::string("b1 5"), std::string("b1 x y 5"),
                                  std::string("b1 nan nan 5"), std::string("b1 -1 5 5"), before.Text("")}) {
    Alone after(140, 300);
    after.Recall(text, "b1", 140);
    EXPECT_EQ(after.until(), 440) << text;
  }
}

}  // namespace
}  // namespace rekindle::agent
