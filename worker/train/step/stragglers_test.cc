#include "worker/train/step/stragglers.h"

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

Straggling After(int steps, const std::vector<StepCost>& costs, Stragglers* stragglers) {
  Straggling verdict;
  for (int i = 0; i < steps; ++i) verdict = stragglers->Add(costs);
  return verdict;
}

Cause CauseOf(int rank, const std::vector<StepCost>& costs) {
  Stragglers stragglers(rank);
  return After(16, costs, &stragglers).cause;
}

TEST(StragglersTest, NamesTheSlowOneAndWhatItIsSlowAt) {
  EXPECT_EQ(CauseOf(1, {Cost(0, 0.01), Cost(0, 0.03), Cost(0, 0.01)}), Cause::kCompute);
  EXPECT_EQ(CauseOf(0, {Cost(0, 0.01), Cost(0, 0.03), Cost(0, 0.01)}), Cause::kNone);
  EXPECT_EQ(CauseOf(0, {Cost(0.02, 0.011), Cost(0, 0.01)}), Cause::kData);
  // All ranks wait equally long for data, so none is a straggler.
  EXPECT_EQ(CauseOf(1, {Cost(0.02, 0.01), Cost(0.02, 0.01)}), Cause::kNone);
  // A rank that is alone has no other rank to compare with.
  EXPECT_EQ(CauseOf(0, {Cost(0, 0.01)}), Cause::kNone);
  // Rank 0 needs only 0.02 ms more for a micro-batch than rank 1, which is too little to report.
  EXPECT_EQ(CauseOf(0, {Cost(0, 3e-5), Cost(0, 1e-5)}), Cause::kNone);
}

TEST(StragglersTest, SaysHowSlow) {
  Stragglers stragglers(1);
  const Straggling verdict = After(16, {Cost(0, 0.01), Cost(0, 0.03)}, &stragglers);
  EXPECT_DOUBLE_EQ(verdict.seconds, 0.03);
  EXPECT_DOUBLE_EQ(verdict.compared, 0.01);
}

// The link of rank 1 takes its bytes slowly. Only rank 1 is blocked for long after all ranks have computed.
TEST(StragglersTest, NamesTheSenderOfASlowLink) {
  const std::vector<StepCost> costs = {Cost(0, 0.01, 0.05, 0.001), Cost(0, 0.01, 0.05, 0.03), Cost(0, 0.01, 0.05, 0)};
  EXPECT_EQ(CauseOf(0, costs), Cause::kNone);
  EXPECT_EQ(CauseOf(1, costs), Cause::kNetwork);
  EXPECT_EQ(CauseOf(2, costs), Cause::kNone);
}

TEST(StragglersTest, ASlowNetworkForAllNamesNobody) {
  EXPECT_EQ(CauseOf(0, {Cost(0, 0.01, 0.05, 0.03), Cost(0, 0.01, 0.05, 0.03)}), Cause::kNone);
}

// Rank 0 is blocked because rank 1 still computes and does not take the data yet. The network is not the cause.
TEST(StragglersTest, WaitingForASlowRankIsNotTheNetwork) {
  EXPECT_EQ(CauseOf(0, {Cost(0, 0.01, 0.121, 0.11), Cost(0, 0.04, 0.001, 0)}), Cause::kNone);
  EXPECT_EQ(CauseOf(0, {Cost(0, 0.01, 0.1, 0.09), Cost(0, 0.03, 0.05, 0)}), Cause::kNone);
}

TEST(StragglersTest, TakesSeveralStepsEitherWay) {
  const std::vector<StepCost> slow = {Cost(0, 0.03), Cost(0, 0.01)}, equal = {Cost(0, 0.01), Cost(0, 0.01)};
  Stragglers stragglers(0);
  EXPECT_EQ(After(7, slow, &stragglers).cause, Cause::kNone);
  stragglers = Stragglers(0);
  EXPECT_EQ(After(16, equal, &stragglers).cause, Cause::kNone);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(stragglers.Add(slow).cause, Cause::kNone) << i;
  for (int i = 0; i < 9; ++i) stragglers.Add(slow);
  EXPECT_EQ(stragglers.Add(slow).cause, Cause::kCompute);
  // A rank that is slower by a factor between the two limits keeps its verdict.
  const std::vector<StepCost> slower = {Cost(0, 0.014), Cost(0, 0.01)};
  for (int i = 0; i < 20; ++i) EXPECT_EQ(stragglers.Add(slower).cause, Cause::kCompute);
  // The next generation starts with the verdict of the generation before, and keeps it until it has measured enough
  // steps itself.
  stragglers = Stragglers(0, stragglers.Add(slower));
  EXPECT_EQ(After(40, equal, &stragglers).cause, Cause::kCompute);
  for (int i = 0; i < 20; ++i) stragglers.Add(equal);
  EXPECT_EQ(stragglers.Add(equal).cause, Cause::kNone);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(stragglers.Add(slower).cause, Cause::kNone);
}

TEST(StragglersTest, NoiseNamesNobody) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> noise(0.7, 1.3);
  Stragglers stragglers(0);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(stragglers.Add(std::vector{Cost(0, 0.01 * noise(random)), Cost(0, 0.01 * noise(random))}).cause,
              Cause::kNone)
        << i;
  }
}

}  // namespace
}  // namespace rekindle::train
