// Runs engines as threads with the coordinator's real core and the real host transport. Whatever happens to the
// membership, the final weights are those of an undisturbed run on one worker, bit for bit.
#include "worker/train/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

#include "worker/train/testing/engine_test_fixture.h"

namespace rekindle::train {
namespace {

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

TEST_F(EngineTest, WhatNeverStepsIsTriedEverMoreSlowlyAndGoesOnWhenItCan) {
  // The test breaks the connections of the first `kBroken` generations.
  constexpr int kBroken = 5;
  before_collective_ = [&](size_t trainer) {
    if (coordinator_->Status().generation() <= kBroken) trainers_[trainer]->BreakConnections();
  };
  const double start = common::SteadySeconds();
  Start(SmallSpec(20), 1);
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) {
    return s.reason().find("waits 1.6 s") != std::string::npos || s.generation() > kBroken || Ended(s);
  }));
  EXPECT_THAT(coordinator_->Status().reason(), testing::HasSubstr("broken by the test"));
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.generation() > kBroken || Ended(s); }));
  EXPECT_GE(common::SteadySeconds() - start, 0.1 + 0.2 + 0.4 + 0.8 + 1.6);
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
  // Only connections broke and no trainer died, so no micro-batch was computed twice.
  EXPECT_EQ(backwards, 400 * spec_.micro_batches());
}

TEST_F(EngineTest, ARankWhoseModelIsHeldUpIsWaitedFor) {
  // The hold-up is twice as long as the shortest deadline between ranks.
  constexpr auto kHeldUp = std::chrono::seconds(4);
  std::atomic<int> generation{0};
  // The job needs three workers, so all three trainers take part in every step.
  min_workers_ = 3;
  Start(SmallSpec(60), 3, [&](size_t trainer, int64_t step) {
    if (trainer != 1 || step != 20 || generation.exchange(coordinator_->Status().generation()) != 0) return;
    trainers_[1]->model().held_up = true;
    std::this_thread::sleep_for(kHeldUp);
    trainers_[1]->model().held_up = false;
  });
  ExpectUndisturbedResult();
  EXPECT_EQ(coordinator_->Status().generation(), generation);
}

TEST_F(EngineTest, AModelThatIsHeldUpLearnsThatItsGenerationIsOver) {
  std::atomic<bool> waits{false}, has_left{false};
  fails_ = [&](size_t trainer, int64_t step) {
    if (trainer != 1 || step < 20 || waits.exchange(true)) return absl::OkStatus();
    BigramModel& model = trainers_[1]->model();
    model.held_up = true;
    while (!model.unwanted) std::this_thread::yield();
    model.held_up = false;
    has_left = true;
    return absl::CancelledError("nobody wants the result any more");
  };
  // The job needs three workers, so the second one takes part in every step, and the killed one needs a successor.
  min_workers_ = 3;
  Start(SmallSpec(60), 3);
  ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) { return waits || Ended(s); }));
  trainers_[2]->Kill();
  Add("successor");
  ExpectUndisturbedResult();
  EXPECT_TRUE(has_left);
  EXPECT_GT(coordinator_->Status().generation(), 1);
}

TEST_F(EngineTest, ACancelledMicroBatchIsNoFailure) {
  std::atomic<bool> cancelled{false};
  fails_ = [&](size_t, int64_t step) {
    const bool now = step == 20 && !cancelled.exchange(true);
    return now ? absl::CancelledError("the generation has ended") : absl::OkStatus();
  };
  // Without its only trainer the job would never end.
  Start(SmallSpec(40), 1);
  ExpectUndisturbedResult();
  EXPECT_TRUE(cancelled);
}

TEST_F(EngineTest, AModelThatCannotBeInitializedFailsTheJobIfTheJobIsAtFault) {
  before_initialize_ = [] { return absl::InvalidArgumentError("the task raised an exception"); };
  Start(SmallSpec(40), 1);
  const v1::JobStatus status = AwaitEnd();
  EXPECT_EQ(status.state(), v1::FAILED);
  EXPECT_THAT(status.reason(), testing::HasSubstr("the task raised an exception"));
}

TEST_F(EngineTest, AnInitializationThatWasCancelledIsMadeAgain) {
  std::atomic<bool> cancelled{false};
  before_initialize_ = [&] {
    return cancelled.exchange(true) ? absl::OkStatus() : absl::CancelledError("the generation has ended");
  };
  Start(SmallSpec(40), 1);
  ExpectUndisturbedResult();
}

TEST_F(EngineTest, WithoutACoordinatorRanksKeepStepping) {
  // `generation` needs no lock, because only the thread of trainer 0 uses it until the latch `stepped_alone` opens.
  int generation = 0;
  std::latch stepped_alone(1);
  // The job needs three workers, so all three trainers take part in every step.
  min_workers_ = 3;
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
  // The job has so many steps that the third trainer joins before the job ends.
  Start(SmallSpec(3000), 2);
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
  // The job has so many steps that it is paused before it ends.
  Start(SmallSpec(3000), 2);
  AwaitStep(20);
  coordinator_->Feed(core::PauseJob{LocalCoordinator::kUid});
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.state() == v1::PAUSED; }));
  const int paused_at = coordinator_->Status().step();
  EXPECT_LT(paused_at, 3000);
  coordinator_->Feed(core::ResumeJob{LocalCoordinator::kUid});
  ExpectUndisturbedResult();
}

TEST_F(EngineTest, AnySeriesOfFaultsGivesTheSameWeights) { ExpectUndisturbedByRandomFaults(SmallSpec(400), 3); }

}  // namespace
}  // namespace rekindle::train
