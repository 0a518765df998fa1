#include "worker/train/step/judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "worker/train/arithmetic/exact_scale.h"

namespace rekindle::train {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Verdict = Judgement::Verdict;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class StepJudgeTest : public testing::Test {
 protected:
  StepJudgeTest() {
    spec_.steps = 100;
    spec_.global_batch = 8;
    spec_.micro_batch = 2;
    layout_.parameters = {{.name = "w", .shape = {4}, .offset = 0, .size = 4}};
    layout_.total = 4;
    scalars_ = {.step = 5, .attempt = 1, .cursor = 40, .exponents = {kInitialExponent}, .loss_scale = {}, .levers = {}};
    outcome_.record = {.step = 5, .attempt = 1, .loss = 1 << 20, .tokens = 1, .micro_batches = 4, .maxima = {0.5f}};
  }
  Judgement Judge(absl::Status* status = nullptr) {
    Judgement judgement;
    const absl::Status judged = StepJudge(spec_, layout_).Judge(scalars_, outcome_, 0.1, &judgement);
    if (status != nullptr) {
      *status = judged;
    } else {
      EXPECT_TRUE(judged.ok()) << judged;
    }
    return judgement;
  }
  void MakeGradientInfinite() {
    outcome_.record.maxima = {kInfinity};
    outcome_.record.bad_micro_batch = 3;
    outcome_.record.bad_parameter = 0;
  }

  TrainSpec spec_;
  ParameterLayout layout_;
  StateScalars scalars_;
  StepOutcome outcome_;
};

TEST_F(StepJudgeTest, AGoodStepIsAppliedAndAdvancesTheScalars) {
  const Judgement judgement = Judge();
  EXPECT_EQ(judgement.verdict, Verdict::kApply);
  EXPECT_EQ(judgement.scalars.step, 6);
  EXPECT_EQ(judgement.scalars.attempt, 0);
  EXPECT_EQ(judgement.scalars.cursor, 48);
  EXPECT_EQ(judgement.scalars.exponents, NextExponents(scalars_.exponents, outcome_.record.maxima, 4));
  EXPECT_FALSE(judgement.scalars.levers.empty()) << "the levers remember what they saw";
}

TEST_F(StepJudgeTest, AScaleThatDidNotFitIsLoweredAndTheStepRedone) {
  outcome_.record.maxima = {1e12f};
  const Judgement judgement = Judge();
  EXPECT_EQ(judgement.verdict, Verdict::kRedo);
  EXPECT_EQ(judgement.scalars.step, 5);
  EXPECT_EQ(judgement.scalars.attempt, 2);
  EXPECT_EQ(judgement.scalars.cursor, 40);
  EXPECT_LT(judgement.scalars.exponents[0], scalars_.exponents[0]);
  EXPECT_THAT(judgement.scalars.levers, IsEmpty()) << "the levers see the step when it is redone";
}

TEST_F(StepJudgeTest, AnOverflowIn16BitsHalvesTheLossScale) {
  spec_.compute = ComputeType::kFloat16;
  spec_.exact = false;
  scalars_.loss_scale = StepJudge(spec_, layout_).InitialLossScale();
  MakeGradientInfinite();
  const Judgement judgement = Judge();
  EXPECT_EQ(judgement.verdict, Verdict::kRedo);
  EXPECT_EQ(judgement.scalars.loss_scale.log2, scalars_.loss_scale.log2 - 1);
  EXPECT_EQ(judgement.scalars.loss_scale.skipped, 1);
}

TEST_F(StepJudgeTest, ADivergedStepEndsTheJobUnlessItMaySkip) {
  MakeGradientInfinite();
  absl::Status status;
  Judge(&status);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("step 6, micro-batch 3: the gradient of w is not finite"));
  spec_.on_divergence = TrainSpec::OnDivergence::kSkip;
  spec_.max_skipped = 1;
  const Judgement judgement = Judge();
  EXPECT_EQ(judgement.verdict, Verdict::kSkip);
  EXPECT_EQ(judgement.scalars.step, 6);
  EXPECT_EQ(judgement.scalars.exponents, scalars_.exponents);
  ASSERT_EQ(judgement.notes.size(), 1u);
  EXPECT_EQ(judgement.notes[0].lever, "skipped_batch");
  EXPECT_THAT(judgement.notes[0].text, HasSubstr("skips the batch, 1 of 1"));
  // The limit is one skipped batch, and the levers' state says that one was skipped. So the next bad batch exceeds the
  // limit.
  scalars_.levers = judgement.scalars.levers;
  Judge(&status);
  EXPECT_THAT(std::string(status.message()), HasSubstr("training.max_skipped 1 batches have been skipped already"));
}

TEST_F(StepJudgeTest, AParameterMissesAGradientAndABufferHasNone) {
  layout_.parameters.push_back({.name = "v", .shape = {4}, .offset = 4, .size = 4});
  layout_.parameters.push_back(
      {.name = "ring", .shape = {1}, .offset = 8, .size = 1, .momentum = 1, .rule = BufferRule::kFrozen});
  layout_.total = 9;
  scalars_.exponents.assign(3, kInitialExponent);
  outcome_.record.maxima = {0.5f, 0.5f, 0};
  outcome_.record.has_gradient = {1, 1, 0};
  EXPECT_THAT(Judge().scalars.missed, IsEmpty());
  outcome_.record.has_gradient = {1, 0, 0};
  scalars_.missed = Judge().scalars.missed;
  EXPECT_THAT(scalars_.missed, testing::ElementsAre(0, 1, 0));
  EXPECT_THAT(Judge().scalars.missed, testing::ElementsAre(0, 2, 0));
}

TEST_F(StepJudgeTest, WhatALeverSaysIsKeptEvenIfTheJobEnds) {
  spec_.on_divergence = TrainSpec::OnDivergence::kFail;
  for (int step = 0; step < 20; ++step) {
    outcome_.record.step = scalars_.step = step;
    scalars_.levers = Judge().scalars.levers;
  }
  outcome_.record.step = scalars_.step = 20;
  outcome_.record.loss = 100 << 20;
  absl::Status status;
  const Judgement judgement = Judge(&status);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the loss jumped to 100 at step 21"));
  ASSERT_EQ(judgement.notes.size(), 1u);
  EXPECT_EQ(judgement.notes[0].lever, "loss_spike");
}

}  // namespace
}  // namespace rekindle::train
