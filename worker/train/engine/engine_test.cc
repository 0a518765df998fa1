// Runs engines as threads with the coordinator's real core and the real host transport, and checks that what a job
// computes and decides is the same on any number of workers, bit for bit.
#include "worker/train/engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "worker/train/testing/engine_test_fixture.h"
#include "worker/train/testing/test_device.h"

namespace rekindle::train {
namespace {

// Returns what the lever `name` reported, or null if it did nothing. On a busy machine one rank may be slower than
// another, so `ranges` may be among the levers of any test.
const v1::LeverStatus* FindLever(const v1::JobStatus& status, const std::string& name) {
  const auto& levers = status.levers();
  const auto at = std::find_if(levers.begin(), levers.end(), [&](const auto& lever) { return lever.lever() == name; });
  return at == levers.end() ? nullptr : &*at;
}

TEST_F(EngineTest, LearnsAndEndsWithADigest) {
  Start(SmallSpec(60), 1);
  const v1::JobStatus status = AwaitEnd();
  ASSERT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
  EXPECT_EQ(status.step(), 60);
  // The model predicts 16 symbols, so the loss is log(16) = 2.77 at the start.
  EXPECT_LT(status.loss(), 1.8);
  EXPECT_GT(status.validation_loss(), 0);
}

TEST_F(EngineTest, TheNumberOfWorkersDoesNotChangeTheResult) {
  for (int trainers : {2, 3, 5}) {
    Start(SmallSpec(), trainers);
    ExpectUndisturbedResult();
    trainers_.clear();
    coordinator_.reset();
  }
}

TEST_F(EngineTest, SixteenBitsBetweenRanksLearnAlmostTheSameThroughAKill) {
  TrainSpec spec = SmallSpec(400);
  spec.exact = false;
  double losses[2] = {};
  for (const bool sixteen_bit : {false, true}) {
    spec.sixteen_bit = sixteen_bit;
    Start(spec, 3);
    AwaitStep(20);
    trainers_[1]->Kill();
    Add("n9");
    const v1::JobStatus status = AwaitEnd();
    // A job succeeds only if all ranks ended with the same bits.
    ASSERT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
    EXPECT_EQ(status.steps_redone(), 0);
    losses[sixteen_bit] = status.validation_loss();
    EXPECT_EQ(std::any_of(status.levers().begin(), status.levers().end(),
                          [](const v1::LeverStatus& l) { return l.lever() == "reduce" && l.bytes_saved() > 0; }),
              sixteen_bit);
    Clear();
  }
  // The model predicts 16 symbols, so the loss is log(16) = 2.77 at the start.
  EXPECT_LT(losses[0], 1.8);
  EXPECT_NE(losses[0], losses[1]);
  EXPECT_NEAR(losses[0], losses[1], 0.01 * losses[0]);
}

// The learning rate follows evaluations, so a trainer that lost the memory of the schedule would end with other
// weights.
TEST_F(EngineTest, APlateauIsRememberedThroughLossesAndByJoiners) {
  TrainSpec spec = SmallSpec(600);
  spec.evaluate_every = 2;
  spec.schedule = {.kind = "plateau", .warmup_steps = 5, .factor = 0.5, .patience = 0, .min_delta = 0.05};
  Start(spec, 2);
  AwaitStep(20);
  trainers_[0]->Kill();
  Add("n9");
  AwaitStep(35);
  trainers_[1]->Kill();
  ExpectUndisturbedResult();
  const v1::JobStatus status = coordinator_->Status();
  EXPECT_NE(FindLever(status, "plateau"), nullptr);
  EXPECT_LT(status.learning_rate(), spec.optimizer.learning_rate);
}

TEST_F(EngineTest, EveryOptimizerSurvivesLosses) {
  for (const OptimizerSpec& optimizer : {OptimizerSpec{.kind = "sgd", .learning_rate = 0.5, .momentum = 0.9},
                                         OptimizerSpec{.kind = "lion", .learning_rate = 0.01},
                                         OptimizerSpec{.kind = "muon", .learning_rate = 0.05, .momentum = 0.95}}) {
    // Muon has no kernel, and computes on the processor alone.
    if (HasOnlyKernels() && optimizer.kind == "muon") continue;
    TrainSpec spec = SmallSpec(600);
    spec.optimizer = optimizer;
    Start(spec, 2);
    AwaitStep(15);
    Add("n9");
    AwaitStep(30);
    trainers_[0]->Kill();
    ExpectUndisturbedResult();
    // The model predicts 16 symbols, so the loss is log(16) = 2.77 at the start.
    EXPECT_LT(coordinator_->Status().loss(), 2.7);
    trainers_.clear();
    coordinator_.reset();
  }
}

TEST_F(EngineTest, StopsEarlyAtTheSameStepWhateverHappens) {
  TrainSpec spec = SmallSpec(100'000);
  spec.evaluate_every = 50;
  spec.levers["early_stop"] = {{"patience", 3}, {"min_delta", 0.002}};
  Start(spec, 3);
  AwaitStep(60);
  trainers_[1]->Kill();
  AwaitStep(120);
  Add("n9");
  ExpectUndisturbedResult();
  const v1::JobStatus status = coordinator_->Status();
  EXPECT_GT(status.step(), 100);
  EXPECT_EQ(status.step() % 50, 0);
  EXPECT_LT(status.step(), 100'000);
  EXPECT_NE(status.reason().find("stopped early at step " + std::to_string(status.step()) + " of 100000"),
            std::string::npos)
      << status.reason();
  const v1::LeverStatus* stop = FindLever(status, "early_stop");
  ASSERT_NE(stop, nullptr);
  EXPECT_EQ(stop->steps_saved(), 100'000 - status.step());
  EXPECT_GT(stop->seconds_saved(), 0);
}

TEST_F(EngineTest, WhatIsNotFiniteIsNamedByStepMicroBatchAndTensor) {
  for (const auto& [poison, what] :
       {std::pair{BigramModel::Poison::kGradient, "step 31, micro-batch 4: the gradient of bias is not finite"},
        {BigramModel::Poison::kLoss, "step 31, micro-batch 4: the loss is not finite"}}) {
    poison_ = [poison](int64_t step, int index) {
      return step == 30 && index == 4 ? poison : BigramModel::Poison::kNone;
    };
    Start(SmallSpec(100), 2);
    const v1::JobStatus status = AwaitEnd();
    EXPECT_EQ(status.state(), v1::FAILED);
    EXPECT_NE(status.reason().find(what), std::string::npos) << status.reason();
    trainers_.clear();
    coordinator_.reset();
  }
}

TEST_F(EngineTest, BadBatchesAreSkippedAlikeOnAnyNumberOfWorkers) {
  poison_ = [](int64_t step, int index) {
    return step == 30 && index == 4    ? BigramModel::Poison::kGradient
           : step == 45 && index == 0  ? BigramModel::Poison::kLoss
           : step == 300 && index == 2 ? BigramModel::Poison::kSpike
                                       : BigramModel::Poison::kNone;
  };
  TrainSpec spec = SmallSpec(600);
  spec.on_divergence = TrainSpec::OnDivergence::kSkip;
  spec.max_skipped = 3;
  Start(spec, 3);
  AwaitStep(40);
  trainers_[1]->Kill();
  ExpectUndisturbedResult();
  EXPECT_EQ(coordinator_->Status().step(), 600);
  std::string told;
  const v1::JobStatus status = coordinator_->Status();
  for (const v1::LeverStatus& lever : status.levers()) told += lever.text() + "\n";
  EXPECT_NE(told.find("skips the batch, 3 of 3"), std::string::npos) << told;
}

TEST_F(EngineTest, ParametersWithoutAGradientAreLeftAloneAlikeOnAnyNumberOfWorkers) {
  // The bias (1) gets a gradient from some of a step's micro-batches only, and in each third step from none.
  is_unused_ = [](int64_t step, int index, int parameter) {
    return parameter == 1 && (step % 3 == 1 || (step + index) % 2 == 0);
  };
  for (int trainers : {1, 3}) {
    Start(SmallSpec(60), trainers);
    AwaitStep(20);
    trainers_[0]->Kill();
    Add("another");
    ExpectUndisturbedResult();
    Clear();
  }
  const std::string digest = UndisturbedDigest();
  is_unused_ = nullptr;
  EXPECT_NE(UndisturbedDigest(), digest) << "the gradients that are missing matter";
}

TEST_F(EngineTest, MoreBadBatchesThanMayBeSkippedEndTheJob) {
  poison_ = [](int64_t step, int) {
    return step == 20 || step == 25 ? BigramModel::Poison::kGradient : BigramModel::Poison::kNone;
  };
  TrainSpec spec = SmallSpec(100);
  spec.on_divergence = TrainSpec::OnDivergence::kSkip;
  spec.max_skipped = 1;
  Start(spec, 2);
  const v1::JobStatus status = AwaitEnd();
  EXPECT_EQ(status.state(), v1::FAILED);
  EXPECT_NE(status.reason().find("step 26, micro-batch 0: the gradient of bias is not finite; training.max_skipped 1 "
                                 "batches have been skipped already"),
            std::string::npos)
      << status.reason();
}

TEST_F(EngineTest, FloatModeRunsToo) {
  TrainSpec spec = SmallSpec();
  spec.exact = false;
  Start(spec, 3);
  const v1::JobStatus status = AwaitEnd();
  EXPECT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
}

// The loss scale is a power of two, and an attempt that overflowed is redone. So the weights are those of FP32.
TEST_F(EngineTest, LossScalingChangesNoBit) {
  // Gradients are summed over the 36 tokens of a micro-batch. With the initial loss scale of 2^10 some sums exceed
  // `largest_gradient_`, so they overflow.
  largest_gradient_ = 2000;
  for (int trainers : {1, 3}) {
    TrainSpec spec = SmallSpec(100);
    spec.compute = ComputeType::kFloat16;
    Start(spec, trainers);
    AwaitStep(5);
    // After the first trainer was killed, the others go on and a new one joins. All must have the same loss scale.
    if (trainers > 1) trainers_.front()->Kill();
    if (trainers > 1) Add("n3");
    const v1::JobStatus status = AwaitEnd();
    EXPECT_GT(status.skipped_steps(), 0);
    EXPECT_LT(status.loss_scale(), 1024);
    spec_.compute = ComputeType::kFloat32;
    ExpectUndisturbedResult();
    trainers_.clear();
    coordinator_.reset();
  }
}

// The gradient of the bad batch is not finite at any loss scale, so the scale is lowered in vain. The batches after the
// bad one must get the initial loss scale again, not the lowest one.
TEST_F(EngineTest, ABadBatchInFloat16IsSkippedAndLeavesTheScale) {
  poison_ = [](int64_t step, int) { return step == 5 ? BigramModel::Poison::kGradient : BigramModel::Poison::kNone; };
  TrainSpec spec = SmallSpec();
  spec.compute = ComputeType::kFloat16;
  spec.on_divergence = TrainSpec::OnDivergence::kSkip;
  Start(spec, 2);
  const v1::JobStatus status = AwaitEnd();
  EXPECT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
  EXPECT_EQ(status.skipped_steps(), LossScaler::kInitialLog2);
  EXPECT_EQ(status.loss_scale(), 1024);
}

TEST_F(EngineTest, WhatOverflowsUnscaledFailsTheJob) {
  largest_gradient_ = 1e-3f;
  TrainSpec spec = SmallSpec();
  spec.compute = ComputeType::kFloat16;
  Start(spec, 2);
  const v1::JobStatus status = AwaitEnd();
  EXPECT_EQ(status.state(), v1::FAILED);
  EXPECT_NE(status.reason().find("step 1, micro-batch 0: the gradient of table is not finite"), std::string::npos)
      << status.reason();
}

}  // namespace
}  // namespace rekindle::train
