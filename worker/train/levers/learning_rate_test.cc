#include "worker/train/levers/learning_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace rekindle::train {
namespace {

const OptimizerSpec kOptimizer{.learning_rate = 1e-3};

TEST(ScheduleTest, ConstantAfterWarmup) {
  const ScheduleSpec schedule{.kind = "constant", .warmup_steps = 4};
  EXPECT_DOUBLE_EQ(LearningRate(kOptimizer, schedule, 0, 100, {}), 0.25e-3);
  EXPECT_DOUBLE_EQ(LearningRate(kOptimizer, schedule, 3, 100, {}), 1e-3);
  EXPECT_DOUBLE_EQ(LearningRate(kOptimizer, schedule, 4, 100, {}), 1e-3);
  EXPECT_DOUBLE_EQ(LearningRate(kOptimizer, schedule, 99, 100, {}), 1e-3);
  EXPECT_EQ(LearningRate(kOptimizer, {}, 0, 100, {}), 1e-3);
}

TEST(ScheduleTest, CosineFallsToTheFinalRatioAtTheLastStep) {
  const ScheduleSpec schedule{.kind = "cosine", .warmup_steps = 10, .final_ratio = 0.1};
  EXPECT_DOUBLE_EQ(LearningRate(kOptimizer, schedule, 9, 110, {}), 1e-3);
  EXPECT_DOUBLE_EQ(LearningRate(kOptimizer, schedule, 109, 110, {}), 1e-4);
  EXPECT_DOUBLE_EQ(LearningRate(kOptimizer, schedule, 59, 110, {}), 0.55e-3);
  for (int step = 10; step < 110; ++step) {
    const double cosine = std::cos(std::numbers::pi * (step - 9) / 100);
    EXPECT_NEAR(LearningRate(kOptimizer, schedule, step, 110, {}), 1e-3 * (0.1 + 0.9 * 0.5 * (1 + cosine)), 1e-17);
    EXPECT_LT(LearningRate(kOptimizer, schedule, step, 110, {}), LearningRate(kOptimizer, schedule, step - 1, 110, {}));
  }
}

TEST(ScheduleTest, EdgesStayWithinTheRange) {
  const ScheduleSpec all_warmup{.kind = "cosine", .warmup_steps = 5, .final_ratio = 0.1};
  EXPECT_DOUBLE_EQ(LearningRate(kOptimizer, all_warmup, 4, 5, {}), 1e-3);
  // The job of 3 steps is shorter than its warm-up of 5.
  EXPECT_DOUBLE_EQ(LearningRate(kOptimizer, all_warmup, 2, 3, {}), 0.6e-3);
  const ScheduleSpec cosine{.kind = "cosine"};
  EXPECT_NEAR(LearningRate(kOptimizer, cosine, 0, 1, {}), 0, 1e-18);
  // Step 500 is beyond the end of the job of 100 steps.
  EXPECT_NEAR(LearningRate(kOptimizer, cosine, 500, 100, {}), 0, 1e-18);
  EXPECT_GE(LearningRate(kOptimizer, cosine, 99, 100, {}), 0);
}

}  // namespace
}  // namespace rekindle::train
