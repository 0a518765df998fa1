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
  spec.schedule = {ScheduleSpec::Kind::kCosine, 5, 0.1};
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
    LocalTrainer only(alone, spec_, "alone", 1);
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

TEST_F(EngineTest, WhatOverflowsUnscaledFailsTheJob) {
  largest_gradient_ = 1e-3f;
  TrainSpec spec = SmallSpec();
  spec.compute = ComputeType::kFloat16;
  Start(spec, 2);
  const v1::JobStatus status = AwaitEnd();
  EXPECT_EQ(status.state(), v1::FAILED);
  EXPECT_NE(status.reason().find("step 1: the gradient of table is not finite"), std::string::npos) << status.reason();
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
