#include "worker/train/save/save_cost.h"

#include <gtest/gtest.h>

namespace rekindle::train {
namespace {

TEST(SaveCostTest, AddsUpWhatStepsTakeLongerWhileASaveIsWritten) {
  SaveCost cost;
  for (int i = 0; i < 5; ++i) cost.Step(2.0, true);
  EXPECT_FALSE(cost.measured());
  cost.Begun(10);
  cost.Step(2.5, true);
  cost.Stalled(0.1);
  // A step that contains an evaluation says nothing about the cost of the save.
  cost.Step(9.0, false);
  cost.Step(2.25, true);
  cost.Durable(17);
  ASSERT_TRUE(cost.measured());
  EXPECT_DOUBLE_EQ(cost.training_seconds(), 0.75);
  EXPECT_DOUBLE_EQ(cost.durable_seconds(), 7);
}

TEST(SaveCostTest, TheStallIsTheLeastItCosts) {
  SaveCost cost;
  for (int i = 0; i < 5; ++i) cost.Step(2.0, true);
  cost.Begun(10);
  cost.Stalled(0.25);
  // A save cannot make a step faster. If a step beside a save is faster than usual, that is chance, so the save costs
  // only the time that training waited for it.
  cost.Step(1.0, true);
  cost.Durable(11);
  EXPECT_DOUBLE_EQ(cost.training_seconds(), 0.25);
}

TEST(SaveCostTest, WithoutStepsToCompareTheStallCounts) {
  SaveCost cost;
  cost.Step(2.0, true);
  cost.Begun(10);
  cost.Stalled(0.25);
  cost.Step(5.0, true);
  cost.Durable(15);
  EXPECT_DOUBLE_EQ(cost.training_seconds(), 0.25);
}

TEST(SaveCostTest, OneSlowSaveDoesNotCount) {
  SaveCost cost;
  double now = 0;
  for (const double seconds : {1.0, 1.0, 60.0, 1.0}) {
    cost.Begun(now);
    cost.Stalled(seconds / 10);
    cost.Durable(now + seconds);
    now += 100;
  }
  EXPECT_DOUBLE_EQ(cost.durable_seconds(), 1);
  EXPECT_DOUBLE_EQ(cost.training_seconds(), 0.1);
}

TEST(SaveCostTest, ALostSaveAndANewWorldSizeMeasureNothing) {
  SaveCost cost;
  cost.Begun(0);
  cost.Lost();
  cost.Durable(5);
  EXPECT_FALSE(cost.measured());
  cost.Begun(0);
  cost.ForgetSteps();
  EXPECT_FALSE(cost.in_flight());
  cost.Durable(5);
  EXPECT_FALSE(cost.measured());
}

}  // namespace
}  // namespace rekindle::train
