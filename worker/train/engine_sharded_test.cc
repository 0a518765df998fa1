// The optimizer's state in shards: whatever happens to the membership, no step is lost while one holder of each shard
// lives, and the weights at the end are those of an undisturbed run with the whole state on one worker, bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <random>

#include "common/log.h"
#include "worker/train/testing/local_cluster.h"

namespace rekindle::train {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr int64_t kBallast = 5 * checkpoint::kBlockElements - 1000;  // Five shards and no more.

TrainSpec ShardedSpec(int steps) {
  TrainSpec spec;
  spec.seed = 5;
  spec.steps = steps;
  spec.global_batch = 18;
  spec.micro_batch = 3;
  spec.context = 12;
  spec.clip_norm = 1;
  spec.evaluate_every = 10;
  spec.optimizer.learning_rate = 0.05;
  spec.schedule = {"cosine", 5, 0.1};
  spec.sharded_state = true;
  return spec;
}

bool Ended(const v1::JobStatus& status) { return status.state() == v1::SUCCEEDED || status.state() == v1::FAILED; }

class EngineShardedTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("REKINDLE_LOG_LEVEL", "error", 0);
    log::Init("engine_sharded_test");
  }
  void TearDown() override { Clear(); }
  void Clear() {
    trainers_.clear();
    coordinator_.reset();
  }
  // Returns when all of them step together.
  void Start(const TrainSpec& spec, int trainers) {
    spec_ = spec;
    trainers_.reserve(100);  // A hook reads it while others are added.
    coordinator_.emplace(spec_, 1);
    for (int i = 0; i < trainers; ++i) Add("n" + std::to_string(i));
    ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) { return s.members_size() == trainers || Ended(s); }))
        << coordinator_->Status().DebugString();
  }
  LocalTrainer& Add(const std::string& node) {
    LocalTrainerOptions options;
    options.ballast = kBallast;
    options.poison = poison_;
    if (spec_.checkpoint.kind != CheckpointSpec::Kind::kNever) options.checkpoints = &store_;
    options.before_backward = [this, index = trainers_.size()](int64_t step, int) {
      if (before_backward_) before_backward_(index, step);
    };
    options.before_collective = [this, index = trainers_.size()] {
      if (before_collective_) before_collective_(index);
    };
    trainers_.push_back(std::make_unique<LocalTrainer>(*coordinator_, spec_, node, ++incarnations_, options));
    return *trainers_.back();
  }
  void AwaitStep(int step) {
    ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) { return s.step() >= step || Ended(s); }))
        << coordinator_->Status().DebugString();
  }
  void AwaitMembers(int members) {
    ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) { return s.members_size() == members || Ended(s); }));
  }
  std::string UndisturbedDigest() {
    TrainSpec spec = spec_;
    spec.sharded_state = false;
    spec.checkpoint = {};
    LocalCoordinator alone(spec, 1);
    LocalTrainerOptions options;
    options.ballast = kBallast;
    options.poison = poison_;
    LocalTrainer only(alone, spec, "alone", 1, options);
    EXPECT_TRUE(alone.Await(Ended)) << alone.Status().DebugString();
    return alone.Status().state_digest();
  }
  void ExpectUndisturbedResult() {
    ASSERT_TRUE(coordinator_->Await(Ended)) << coordinator_->Status().DebugString();
    const v1::JobStatus status = coordinator_->Status();
    ASSERT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
    EXPECT_EQ(status.state_digest(), UndisturbedDigest());
  }

  TrainSpec spec_;
  std::function<BigramModel::Poison(int64_t step, int index)> poison_;
  std::function<void(size_t trainer, int64_t step)> before_backward_;  // On the trainers' threads.
  std::function<void(size_t trainer)> before_collective_;
  int incarnations_ = 0;
  MemoryCheckpoints store_;
  std::optional<LocalCoordinator> coordinator_;
  std::vector<std::unique_ptr<LocalTrainer>> trainers_;
};

TEST_F(EngineShardedTest, TheResultIsThatOfTheWholeState) {
  for (int trainers : {1, 2, 3, 6}) {  // Six: one of them holds no shard.
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

// Between its first collective of a step and the first of the next, wherever: some have applied the step and some have
// not, some have part of its weights.
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

// While shards move to new holders.
TEST_F(EngineShardedTest, ADeathWhileShardsMoveCostsNothing) {
  std::string digest;
  for (int point = 0; point < 12; ++point) {
    std::atomic<bool> joined{false};
    std::atomic<int> left{point};
    before_collective_ = [&](size_t trainer) {  // The joiner's own first ones, or those of one that sends to it.
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
  // A generation may have been formed between the two deaths, whose shards had not moved yet.
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
  // Of 10 blocks of both moments a rank of four holds 4 to 6, and has room for a shard of one or two on its way, and
  // for a piece.
  EXPECT_GT(told->bytes_saved(), 0) << told->text();
  EXPECT_LT(told->bytes_saved(), 6.0 * checkpoint::kBlockElements * 4) << told->text();
}

// Random faults, one after the other, never two at once. REKINDLE_SEED repeats a run.
TEST_F(EngineShardedTest, AnySeriesOfSingleFaultsGivesTheSameWeightsAndLosesNoStep) {
  const char* given = std::getenv("REKINDLE_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device()();
  SCOPED_TRACE("REKINDLE_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  Start(ShardedSpec(300), 4);
  for (int round = 0; round < 8 && !Ended(coordinator_->Status()); ++round) {
    AwaitStep(std::min(299, coordinator_->Status().step() + 5 + static_cast<int>(random() % 20)));
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
  EXPECT_EQ(coordinator_->Status().steps_redone(), 0);
}

}  // namespace
}  // namespace rekindle::train
