#include "worker/train/stragglers.h"

#include <gtest/gtest.h>

#include <random>

namespace rekindle::train {
namespace {

using Cause = Straggling::Cause;

StepCost Cost(double data, double compute, double exchange = 0.001, double blocked = 0) {
  return {.micro_batches = 4,
          .data_seconds = 4 * data,
          .compute_seconds = 4 * compute,
          .exchange_seconds = exchange,
          .blocked_seconds = blocked};
}

Straggling After(int steps, int rank, const std::vector<StepCost>& costs, Stragglers* stragglers) {
  stragglers->Begin(rank);
  Straggling verdict;
  for (int i = 0; i < steps; ++i) verdict = stragglers->Add(costs);
  return verdict;
}

Cause CauseOf(int rank, const std::vector<StepCost>& costs) {
  Stragglers stragglers;
  return After(16, rank, costs, &stragglers).cause;
}

TEST(StragglersTest, NamesTheSlowOneAndWhatItIsSlowAt) {
  EXPECT_EQ(CauseOf(1, {Cost(0, 0.01), Cost(0, 0.03), Cost(0, 0.01)}), Cause::kCompute);
  EXPECT_EQ(CauseOf(0, {Cost(0, 0.01), Cost(0, 0.03), Cost(0, 0.01)}), Cause::kNone);
  EXPECT_EQ(CauseOf(0, {Cost(0.02, 0.011), Cost(0, 0.01)}), Cause::kData);
  EXPECT_EQ(CauseOf(1, {Cost(0.02, 0.01), Cost(0.02, 0.01)}), Cause::kNone);  // All wait for data alike.
  EXPECT_EQ(CauseOf(0, {Cost(0, 0.01)}), Cause::kNone);                       // Nobody to compare with.
  EXPECT_EQ(CauseOf(0, {Cost(0, 3e-5), Cost(0, 1e-5)}), Cause::kNone);        // Not worth a word.
}

TEST(StragglersTest, SaysHowSlow) {
  Stragglers stragglers;
  const Straggling verdict = After(16, 1, {Cost(0, 0.01), Cost(0, 0.03)}, &stragglers);
  EXPECT_DOUBLE_EQ(verdict.seconds, 0.03);
  EXPECT_DOUBLE_EQ(verdict.compared, 0.01);
}

// Rank 1's link takes its bytes slowly: it alone is blocked when all have computed.
TEST(StragglersTest, NamesTheSenderOfASlowLink) {
  const std::vector<StepCost> costs = {Cost(0, 0.01, 0.05, 0.001), Cost(0, 0.01, 0.05, 0.03), Cost(0, 0.01, 0.05, 0)};
  EXPECT_EQ(CauseOf(0, costs), Cause::kNone);
  EXPECT_EQ(CauseOf(1, costs), Cause::kNetwork);
  EXPECT_EQ(CauseOf(2, costs), Cause::kNone);
}

TEST(StragglersTest, ASlowNetworkForAllNamesNobody) {
  EXPECT_EQ(CauseOf(0, {Cost(0, 0.01, 0.05, 0.03), Cost(0, 0.01, 0.05, 0.03)}), Cause::kNone);
}

// Its predecessor has data for it that it does not take yet, for it still computes.
TEST(StragglersTest, WaitingForASlowRankIsNotTheNetwork) {
  EXPECT_EQ(CauseOf(0, {Cost(0, 0.01, 0.121, 0.11), Cost(0, 0.04, 0.001, 0)}), Cause::kNone);
  EXPECT_EQ(CauseOf(0, {Cost(0, 0.01, 0.1, 0.09), Cost(0, 0.03, 0.05, 0)}), Cause::kNone);
}

TEST(StragglersTest, TakesSeveralStepsEitherWay) {
  const std::vector<StepCost> slow = {Cost(0, 0.03), Cost(0, 0.01)}, equal = {Cost(0, 0.01), Cost(0, 0.01)};
  Stragglers stragglers;
  EXPECT_EQ(After(7, 0, slow, &stragglers).cause, Cause::kNone);
  EXPECT_EQ(After(16, 0, equal, &stragglers).cause, Cause::kNone);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(stragglers.Add(slow).cause, Cause::kNone) << i;
  for (int i = 0; i < 9; ++i) stragglers.Add(slow);
  EXPECT_EQ(stragglers.Add(slow).cause, Cause::kCompute);
  // Between the two limits what was said stands; a new generation knows nothing better at first.
  const std::vector<StepCost> slower = {Cost(0, 0.014), Cost(0, 0.01)};
  for (int i = 0; i < 20; ++i) EXPECT_EQ(stragglers.Add(slower).cause, Cause::kCompute);
  EXPECT_EQ(After(40, 0, equal, &stragglers).cause, Cause::kCompute);
  for (int i = 0; i < 20; ++i) stragglers.Add(equal);
  EXPECT_EQ(stragglers.Add(equal).cause, Cause::kNone);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(stragglers.Add(slower).cause, Cause::kNone);
}

TEST(StragglersTest, NoiseNamesNobody) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> noise(0.7, 1.3);
  Stragglers stragglers;
  stragglers.Begin(0);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(stragglers.Add(std::vector{Cost(0, 0.01 * noise(random)), Cost(0, 0.01 * noise(random))}).cause,
              Cause::kNone)
        << i;
  }
}

}  // namespace
}  // namespace rekindle::train
