// Engines as threads, the coordinator's real core, the real host transport: whatever happens to the membership, the
// weights at the end are those of an undisturbed run on one worker, bit for bit.
#include "worker/train/engine.h"

#include <gtest/gtest.h>

#include <latch>
#include <optional>
#include <random>

#include "common/log.h"
#include "worker/train/testing/local_cluster.h"

namespace rekindle::train {
namespace {

TrainSpec SmallSpec(int steps = 40) {
  TrainSpec spec;
  spec.seed = 5;
  spec.steps = steps;
  spec.global_batch = 18;
  spec.micro_batch = 3;
  spec.context = 12;
  spec.exact = true;
  spec.clip_norm = 1;
  spec.evaluate_every = 10;
  spec.optimizer.learning_rate = 0.05;
  spec.schedule = {"cosine", 5, 0.1};
  return spec;
}

bool Ended(const v1::JobStatus& status) { return status.state() == v1::SUCCEEDED || status.state() == v1::FAILED; }

class EngineTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("REKINDLE_LOG_LEVEL", "error", 0);
    log::Init("engine_test");
  }
  // Called on the thread of a trainer, by its number, before each of its backwards.
  using BeforeBackward = std::function<void(int trainer, int64_t step)>;

  // Returns when all of them step together.
  void Start(const TrainSpec& spec, int trainers, BeforeBackward before_backward = {}) {
    spec_ = spec;
    before_backward_ = std::move(before_backward);
    trainers_.reserve(100);  // A hook reads it while others are added.
    coordinator_.emplace(spec_, min_workers_);
    for (int i = 0; i < trainers; ++i) Add("n" + std::to_string(i));
    ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) { return s.members_size() == trainers || Ended(s); }))
        << coordinator_->Status().DebugString();
  }
  LocalTrainer& Add(const std::string& node) {
    LocalTrainerOptions options;
    options.largest_gradient = largest_gradient_;
    if (before_backward_) {
      options.before_backward = [this, index = static_cast<int>(trainers_.size())](int64_t step, int) {
        before_backward_(index, step);
      };
    }
    options.poison = poison_;
    trainers_.push_back(std::make_unique<LocalTrainer>(*coordinator_, spec_, node, ++incarnations_, options));
    return *trainers_.back();
  }
  void AwaitStep(int step) {
    ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) { return s.step() >= step; }))
        << coordinator_->Status().DebugString();
  }
  v1::JobStatus AwaitEnd() {
    EXPECT_TRUE(coordinator_->Await(Ended)) << coordinator_->Status().DebugString();
    return coordinator_->Status();
  }
  std::string UndisturbedDigest() {
    LocalCoordinator alone(spec_, 1);
    LocalTrainerOptions options;
    options.poison = poison_;
    LocalTrainer only(alone, spec_, "alone", 1, options);
    EXPECT_TRUE(alone.Await(Ended)) << alone.Status().DebugString();
    return alone.Status().state_digest();
  }
  void ExpectUndisturbedResult() {
    const v1::JobStatus status = AwaitEnd();
    EXPECT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
    EXPECT_EQ(status.state_digest(), UndisturbedDigest());
    EXPECT_FALSE(status.state_digest().empty());
  }

  TrainSpec spec_;
  BeforeBackward before_backward_;
  std::function<BigramModel::Poison(int64_t step, int index)> poison_;
  int min_workers_ = 1;
  float largest_gradient_ = 0;
  int incarnations_ = 0;
  std::optional<LocalCoordinator> coordinator_;
  std::vector<std::unique_ptr<LocalTrainer>> trainers_;
};

TEST_F(EngineTest, LearnsAndEndsWithADigest) {
  Start(SmallSpec(60), 1);
  const v1::JobStatus status = AwaitEnd();
  ASSERT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
  EXPECT_EQ(status.step(), 60);
  EXPECT_LT(status.loss(), 1.8);  // log(16) = 2.77 at the start.
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

// The rate follows evaluations, so a trainer that lost what the schedule remembers would end with other weights.
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
  ASSERT_EQ(status.levers_size(), 1);
  EXPECT_EQ(status.levers(0).lever(), "plateau");
  EXPECT_LT(status.learning_rate(), spec.optimizer.learning_rate);
}

TEST_F(EngineTest, EveryOptimizerSurvivesLosses) {
  for (const OptimizerSpec& optimizer : {OptimizerSpec{.kind = "sgd", .learning_rate = 0.5, .momentum = 0.9},
                                         OptimizerSpec{.kind = "lion", .learning_rate = 0.01},
                                         OptimizerSpec{.kind = "muon", .learning_rate = 0.05, .momentum = 0.95}}) {
    TrainSpec spec = SmallSpec(600);
    spec.optimizer = optimizer;
    Start(spec, 2);
    AwaitStep(15);
    Add("n9");
    AwaitStep(30);
    trainers_[0]->Kill();
    ExpectUndisturbedResult();
    EXPECT_LT(coordinator_->Status().loss(), 2.7);  // log(16) = 2.77 at the start.
    trainers_.clear();
    coordinator_.reset();
  }
}

TEST_F(EngineTest, StopsEarlyAtTheSameStepWhateverHappens) {
  TrainSpec spec = SmallSpec(100'000);
  spec.evaluate_every = 50;
  spec.early_stop = {.patience = 3, .min_delta = 0.002};
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
  ASSERT_EQ(status.levers_size(), 1);
  EXPECT_EQ(status.levers(0).lever(), "early_stop");
  EXPECT_EQ(status.levers(0).steps_saved(), 100'000 - status.step());
  EXPECT_GT(status.levers(0).seconds_saved(), 0);
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

// The scale is a power of two, and an attempt that overflowed is redone: so the weights are those of FP32.
TEST_F(EngineTest, LossScalingChangesNoBit) {
  largest_gradient_ = 2000;  // Of a sum over 36 tokens at the initial scale of 2^10: some overflow.
  for (int trainers : {1, 3}) {
    TrainSpec spec = SmallSpec(100);
    spec.compute = ComputeType::kFloat16;
    Start(spec, trainers);
    AwaitStep(5);
    if (trainers > 1) trainers_.front()->Kill();  // Who takes over, and who joins, has the scale too.
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

// No scale holds its gradient; the scale that all were tried at is not kept for the batches after it.
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

TEST_F(EngineTest, AKilledTrainerCostsNothingButItsMicroBatches) {
  Start(SmallSpec(200), 3);
  AwaitStep(20);
  trainers_[1]->Kill();
  AwaitStep(60);
  Add("n1");
  ExpectUndisturbedResult();
  const v1::JobStatus status = coordinator_->Status();
  EXPECT_EQ(status.steps_redone(), 0);
}

TEST_F(EngineTest, AVanishedNodeIsLeftOutAfterTheGrace) {
  Start(SmallSpec(200), 3);
  AwaitStep(20);
  trainers_[2]->Kill(/*agent_reports=*/false);
  ExpectUndisturbedResult();
}

TEST_F(EngineTest, BrokenConnectionsReFormTheSameMembers) {
  Start(SmallSpec(200), 3);
  AwaitStep(20);
  trainers_[0]->BreakConnections();
  AwaitStep(60);
  trainers_[2]->BreakConnections();
  ExpectUndisturbedResult();
}

TEST_F(EngineTest, AKillInMidBackwardIsRecomputedByOthers) {
  std::atomic<bool> killed{false};
  Start(SmallSpec(400), 3, [&](int trainer, int64_t step) {
    if (trainer == 1 && step > 200 && !killed.exchange(true)) trainers_[1]->Kill();
  });
  ExpectUndisturbedResult();
  EXPECT_TRUE(killed);
}

TEST_F(EngineTest, AnAbortInMidBackwardLosesNoMicroBatch) {
  std::atomic<bool> broken{false};
  Start(SmallSpec(400), 3, [&](int trainer, int64_t step) {
    if (trainer == 1 && step > 200 && !broken.exchange(true)) trainers_[0]->BreakConnections();
  });
  ExpectUndisturbedResult();
  EXPECT_TRUE(broken);
  int backwards = 0;
  for (const auto& trainer : trainers_) backwards += trainer->model().backwards;
  EXPECT_EQ(backwards, 400 * spec_.micro_batches());  // Nobody died: nothing was computed twice.
}

TEST_F(EngineTest, WithoutACoordinatorRanksKeepStepping) {
  int generation = 0;  // Used by one trainer's thread until the latch opens.
  std::latch stepped_alone(1);
  min_workers_ = 3;  // All steps are steps of three.
  Start(SmallSpec(400), 3, [&](int trainer, int64_t step) {
    if (trainer != 0) return;
    if (generation == 0 && step >= 20) {
      generation = coordinator_->Status().generation();
      coordinator_->SetAway(true);
    }
    if (step >= 100 && !stepped_alone.try_wait()) stepped_alone.count_down();
  });
  stepped_alone.wait();
  coordinator_->Restart();
  ExpectUndisturbedResult();
  EXPECT_EQ(coordinator_->Status().generation(), generation);
}

TEST_F(EngineTest, ADeathWhileTheCoordinatorIsAwayWaitsForIt) {
  Start(SmallSpec(200), 3);
  AwaitStep(20);
  coordinator_->SetAway(true);
  trainers_[1]->Kill(/*agent_reports=*/false);
  coordinator_->Restart();
  ExpectUndisturbedResult();
}

TEST_F(EngineTest, AJoinerTakesStateFromAPeer) {
  Start(SmallSpec(3000), 2);  // Long enough for the joiner to come before its end.
  AwaitStep(30);
  Add("late");
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.members_size() == 3 || Ended(s); }));
  ExpectUndisturbedResult();
  EXPECT_GT(trainers_.back()->model().backwards, 0);
}

TEST_F(EngineTest, ADrainedNodeLeavesWithoutRework) {
  Start(SmallSpec(300), 3);
  AwaitStep(30);
  coordinator_->Feed(core::DrainNode{"n1", 0, "a test"});
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.members_size() == 2 || Ended(s); }));
  ExpectUndisturbedResult();
  int backwards = 0;
  for (const auto& trainer : trainers_) backwards += trainer->model().backwards;
  EXPECT_EQ(backwards, 300 * spec_.micro_batches());
}

TEST_F(EngineTest, PauseHoldsTheStateAndResumeGoesOn) {
  Start(SmallSpec(3000), 2);  // Long enough for the pause to come before its end.
  AwaitStep(20);
  coordinator_->Feed(core::PauseJob{LocalCoordinator::kUid});
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.state() == v1::PAUSED; }));
  const int paused_at = coordinator_->Status().step();
  EXPECT_LT(paused_at, 3000);
  coordinator_->Feed(core::ResumeJob{LocalCoordinator::kUid});
  ExpectUndisturbedResult();
}

// Random faults, one after the other, on random trainers. REKINDLE_SEED repeats a run.
TEST_F(EngineTest, AnySeriesOfFaultsGivesTheSameWeights) {
  const char* given = std::getenv("REKINDLE_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device()();
  SCOPED_TRACE("REKINDLE_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  Start(SmallSpec(400), 3);
  for (int round = 0; round < 8 && !Ended(coordinator_->Status()); ++round) {
    AwaitStep(std::min(399, coordinator_->Status().step() + 5 + static_cast<int>(random() % 20)));
    const size_t victim = random() % trainers_.size();
    switch (random() % 4) {
      case 0:
        trainers_[victim]->Kill(random() % 2 == 0);
        Add("r" + std::to_string(round));
        break;
      case 1:
        trainers_[victim]->BreakConnections();
        break;
      case 2:
        coordinator_->Restart();
        break;
      case 3:
        Add("a" + std::to_string(round));
        break;
    }
  }
  ExpectUndisturbedResult();
}

}  // namespace
}  // namespace rekindle::train
