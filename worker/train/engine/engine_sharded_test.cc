// Tests jobs whose optimizer state is in shards. Whatever happens to the membership, no step is lost while one holder
// of each shard lives. The final weights are those of an undisturbed run with the whole state on one worker, bit for
// bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "worker/train/testing/engine_test_fixture.h"
#include "worker/train/testing/test_device.h"

namespace rekindle::train {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

// `kBallast` gives the state five blocks, so that it can be cut into five shards and no more.
constexpr int64_t kBallast = 5 * checkpoint::kBlockElements - 1000;

TrainSpec ShardedSpec(int steps) {
  TrainSpec spec = SmallSpec(steps);
  spec.sharded_state = true;
  return spec;
}

class EngineShardedTest : public EngineTest {
 protected:
  EngineShardedTest() { ballast_ = kBallast; }
  void AwaitMembers(int members) {
    ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) { return s.members_size() == members || Ended(s); }));
  }
};

TEST_F(EngineShardedTest, TheResultIsThatOfTheWholeState) {
  // The state has five shards, so with six trainers one of them holds no shard.
  for (int trainers : {1, 2, 3, 6}) {
    Start(ShardedSpec(30), trainers);
    ExpectUndisturbedResult();
    Clear();
  }
}

TEST_F(EngineShardedTest, EveryElementwiseOptimizerCanBeSharded) {
  for (const OptimizerSpec& optimizer : {OptimizerSpec{.kind = "sgd", .learning_rate = 0.5, .momentum = 0.9},
                                         OptimizerSpec{.kind = "lion", .learning_rate = 0.01}}) {
    TrainSpec spec = ShardedSpec(100);
    spec.optimizer = optimizer;
    Start(spec, 4);
    AwaitStep(20);
    trainers_[1]->Kill();
    ExpectUndisturbedResult();
    EXPECT_EQ(coordinator_->Status().steps_redone(), 0);
    Clear();
  }
}

TEST_F(EngineShardedTest, ParametersWithoutAGradientAreLeftAloneAlike) {
  // In half of the steps the ballast (2), which has most of the shards, gets no gradient.
  is_unused_ = [](int64_t step, int, int parameter) { return parameter == 2 && step % 2 == 1; };
  Start(ShardedSpec(60), 4);
  AwaitStep(20);
  trainers_[2]->Kill();
  AwaitStep(30);
  Add("another");
  ExpectUndisturbedResult();
  EXPECT_EQ(coordinator_->Status().steps_redone(), 0);
}

TEST_F(EngineShardedTest, ALossAndAJoinerCostNoStep) {
  Start(ShardedSpec(200), 4);
  for (int round = 0; round < 4; ++round) {
    AwaitStep(coordinator_->Status().step() + 10);
    trainers_[static_cast<size_t>(round)]->Kill(round % 2 == 0);
    AwaitMembers(3);
    AwaitStep(coordinator_->Status().step() + 10);
    Add("r" + std::to_string(round));
    AwaitMembers(4);
  }
  ExpectUndisturbedResult();
  EXPECT_EQ(coordinator_->Status().steps_redone(), 0);
}

// One of three ranks dies at any point between its first collective of one step and its first collective of the next.
// By then some ranks have applied the step, some have not, and some have received only part of its new weights. No step
// may be lost.
TEST_F(EngineShardedTest, ADeathAtAnyPointOfAStepCostsNothing) {
  std::string digest;
  for (int point = 0; point < 14; ++point) {
    std::atomic<bool> armed{false};
    std::atomic<int> left{point};
    before_backward_ = [&](size_t trainer, int64_t step) { armed = armed || (trainer == 1 && step == 15); };
    before_collective_ = [&](size_t trainer) {
      if (trainer == 1 && armed && left-- == 0) trainers_[1]->Kill(point % 2 == 0);
    };
    Start(ShardedSpec(30), 3);
    ASSERT_TRUE(coordinator_->Await(Ended)) << coordinator_->Status().DebugString();
    const v1::JobStatus status = coordinator_->Status();
    ASSERT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
    EXPECT_LT(left, 0) << "nobody died";
    EXPECT_EQ(status.steps_redone(), 0) << point;
    if (digest.empty()) digest = UndisturbedDigest();
    EXPECT_EQ(status.state_digest(), digest) << point;
    Clear();
  }
}

// A rank dies while shards of the optimizer's moments move to new holders.
TEST_F(EngineShardedTest, ADeathWhileShardsMoveCostsNothing) {
  std::string digest;
  for (int point = 0; point < 12; ++point) {
    std::atomic<bool> joined{false};
    std::atomic<int> left{point};
    // The victim is trainer 3, which joins late, or trainer 1, which sends shards to it. It dies in one of its first
    // collectives after trainer 3 has joined.
    before_collective_ = [&](size_t trainer) {
      if (trainer == 3) joined = true;
      const size_t victim = point % 2 == 0 ? 3 : 1;
      if (trainer == victim && joined && left-- == 0) trainers_[victim]->Kill();
    };
    Start(ShardedSpec(120), 3);
    AwaitStep(10);
    Add("late");
    ASSERT_TRUE(coordinator_->Await(Ended)) << coordinator_->Status().DebugString();
    const v1::JobStatus status = coordinator_->Status();
    ASSERT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
    EXPECT_LT(left, 0) << "nobody died";
    EXPECT_EQ(status.steps_redone(), 0) << point;
    if (digest.empty()) digest = UndisturbedDigest();
    EXPECT_EQ(status.state_digest(), digest) << point;
    Clear();
  }
}

TEST_F(EngineShardedTest, WithoutBothHoldersOfAShardTheNewestCheckpointCounts) {
  TrainSpec spec = ShardedSpec(400);
  spec.checkpoint = {.kind = CheckpointSpec::Kind::kEverySteps, .every_steps = 5};
  Start(spec, 5);
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.checkpoint_step() >= 5 || Ended(s); }));
  trainers_[1]->Kill(/*agent_reports=*/false);
  trainers_[2]->Kill(/*agent_reports=*/false);
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.members_size() == 3 || Ended(s); }));
  // Trainers 1 and 2 were the two holders of shard 1. The job's newest event has the first text if no generation was
  // formed between their deaths. It has the second text if a generation was formed, but the shards were not yet on new
  // holders when the second of the two trainers died.
  EXPECT_THAT(coordinator_->Status().last_event(),
              AnyOf(HasSubstr("both holders of optimizer shard 1, n1/0 and n2/0, are gone"),
                    HasSubstr("the live trainers do not have all of the optimizer's shards of one step")));
  EXPECT_THAT(coordinator_->Status().last_event(), HasSubstr("goes back to checkpoint "));
  ExpectUndisturbedResult();
}

TEST_F(EngineShardedTest, WhoDrainsHandsItsShardsOn) {
  Start(ShardedSpec(300), 5);
  AwaitStep(20);
  coordinator_->Feed(core::DrainNode{"n1", 0, "a test"});
  coordinator_->Feed(core::DrainNode{"n2", 0, "a test"});
  AwaitMembers(3);
  ExpectUndisturbedResult();
  EXPECT_EQ(coordinator_->Status().steps_redone(), 0);
  EXPECT_EQ(coordinator_->Status().micro_batches_redone(), 0);
}

TEST_F(EngineShardedTest, AllAtOnceComeBackFromTheCheckpoint) {
  TrainSpec spec = ShardedSpec(300);
  spec.checkpoint = {.kind = CheckpointSpec::Kind::kEverySteps, .every_steps = 5};
  Start(spec, 3);
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.checkpoint_step() >= 5 || Ended(s); }));
  for (const auto& trainer : trainers_) trainer->Kill();
  Add("new1");
  Add("new2");
  ExpectUndisturbedResult();
  EXPECT_THAT(coordinator_->Status().DebugString(), HasSubstr("from checkpoint "));
}

TEST_F(EngineShardedTest, BadBatchesAreSkippedAlike) {
  poison_ = [](int64_t step, int index) {
    return step % 7 == 3 && index == 4 ? BigramModel::Poison::kGradient : BigramModel::Poison::kNone;
  };
  TrainSpec spec = ShardedSpec(150);
  spec.on_divergence = TrainSpec::OnDivergence::kSkip;
  spec.max_skipped = 100;
  Start(spec, 3);
  AwaitStep(20);
  trainers_[0]->Kill();
  ExpectUndisturbedResult();
  EXPECT_EQ(coordinator_->Status().steps_redone(), 0);
}

TEST_F(EngineShardedTest, FloatModeRunsAndSaysWhatItSaves) {
  TrainSpec spec = ShardedSpec(100);
  spec.exact = false;
  Start(spec, 5);
  AwaitStep(20);
  trainers_[1]->Kill();
  ASSERT_TRUE(coordinator_->Await(Ended));
  const v1::JobStatus status = coordinator_->Status();
  ASSERT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
  const auto told = std::find_if(status.levers().begin(), status.levers().end(),
                                 [](const v1::LeverStatus& lever) { return lever.lever() == "sharded_state"; });
  ASSERT_NE(told, status.levers().end());
  // The two moments together have 10 blocks. Each of four ranks holds 4 to 6 of them, and also has memory for one or
  // two shards that move between ranks, and for a piece of a shard. A GPU has memory for the largest shard from the
  // start on, which is more than so small a state saves.
  EXPECT_EQ(told->bytes_saved() > 0, MakeTestDevice("any")->IsHost()) << told->text();
  EXPECT_LT(told->bytes_saved(), 6.0 * checkpoint::kBlockElements * 4) << told->text();
}

TEST_F(EngineShardedTest, AnySeriesOfSingleFaultsGivesTheSameWeightsAndLosesNoStep) {
  ExpectUndisturbedByRandomFaults(ShardedSpec(300), 4);
  EXPECT_EQ(coordinator_->Status().steps_redone(), 0);
}

}  // namespace
}  // namespace rekindle::train
