#include "worker/train/arithmetic/loss_scale.h"

#include <gtest/gtest.h>

namespace rekindle::train {
namespace {

TEST(LossScaleTest, OnlyFloat16IsScaled) {
  for (ComputeType compute : {ComputeType::kFloat32, ComputeType::kBfloat16}) {
    const LossScaler scaler(compute, 512);
    EXPECT_EQ(scaler.Initial(), LossScale{});
    EXPECT_EQ(scaler.Applied({}), LossScale{});
    EXPECT_FALSE(scaler.Overflowed({}).has_value());
  }
}

TEST(LossScaleTest, StartsAtPyTorchsScaleOfTheMean) {
  EXPECT_EQ(LossScaler(ComputeType::kFloat16, 1).Initial().log2, 16);
  EXPECT_EQ(LossScaler(ComputeType::kFloat16, 512).Initial().log2, 7);
  EXPECT_EQ(LossScaler(ComputeType::kFloat16, 513).Initial().log2, 6);
  EXPECT_EQ(LossScaler(ComputeType::kFloat16, 1 << 20).Initial().log2, -4);
}

TEST(LossScaleTest, GrowsAfterAnIntervalOfGoodSteps) {
  const LossScaler scaler(ComputeType::kFloat16, 512);
  LossScale scale = scaler.Initial();
  for (int i = 1; i < LossScaler::kGrowthInterval; ++i) scale = scaler.Applied(scale);
  EXPECT_EQ(scale.log2, 7);
  EXPECT_EQ(scaler.Applied(scale), (LossScale{.log2 = 8}));
}

TEST(LossScaleTest, NeverGrowsAboveTheMaximum) {
  const LossScaler scaler(ComputeType::kFloat16, 1);
  const LossScale highest = {.log2 = LossScaler::kMaximumLog2, .good_steps = LossScaler::kGrowthInterval - 1};
  EXPECT_EQ(scaler.Applied(highest), (LossScale{.log2 = LossScaler::kMaximumLog2}));
}

TEST(LossScaleTest, AnOverflowHalvesAndCountsAndStartsTheIntervalAnew) {
  const LossScaler scaler(ComputeType::kFloat16, 512);
  LossScale scale = {.log2 = 7, .good_steps = LossScaler::kGrowthInterval - 1, .skipped = 3};
  scale = *scaler.Overflowed(scale);
  EXPECT_EQ(scale, (LossScale{.log2 = 6, .good_steps = 0, .skipped = 4}));
  EXPECT_EQ(scaler.Applied(scale).log2, 6);
}

TEST(LossScaleTest, WhatOverflowsUnscaledIsNotTheScalesFault) {
  const LossScaler scaler(ComputeType::kFloat16, 512);
  LossScale scale = scaler.Initial();
  int back_offs = 0;
  while (const auto next = scaler.Overflowed(scale)) {
    scale = *next;
    ++back_offs;
  }
  EXPECT_EQ(back_offs, 16);
  // The scale 2^-9 on the sum is the scale 1 on the mean of 512 tokens.
  EXPECT_EQ(scale.log2, -9);
}

}  // namespace
}  // namespace rekindle::train
