// Tests when engines take checkpoints: as the job says, and at the same steps on every rank, whatever happens to the
// membership. The test has a clock of its own, which advances with every micro-batch that is computed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "common/log/log.h"
#include "worker/train/testing/local_trainer.h"

namespace rekindle::train {
namespace {

using testing::HasSubstr;

constexpr double kMicroBatchSeconds = 0.1;
constexpr int kMicroBatches = 6;
constexpr double kStepSeconds = kMicroBatchSeconds * kMicroBatches;

TrainSpec SpecWith(const CheckpointSpec& checkpoint, int steps) {
  TrainSpec spec;
  spec.seed = 5;
  spec.steps = steps;
  spec.micro_batch = 3;
  spec.global_batch = kMicroBatches * spec.micro_batch;
  spec.context = 12;
  spec.clip_norm = 1;
  spec.optimizer.learning_rate = 0.05;
  spec.checkpoint = checkpoint;
  return spec;
}

bool Ended(const v1::JobStatus& status) { return status.state() == v1::SUCCEEDED || status.state() == v1::FAILED; }

// Maps each generation and trainer to the steps whose save the trainer began.
using Begun = std::map<int, std::map<std::string, std::set<int>>>;

class EngineCheckpointTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("REKINDLE_LOG_LEVEL", "error", 0);
    log::Init("engine_checkpoint_test");
  }
  void TearDown() override {
    trainers_.clear();
    unlink(timeline_.c_str());
  }
  void Start(const CheckpointSpec& checkpoint, int steps, int trainers) {
    spec_ = SpecWith(checkpoint, steps);
    timeline_ = testing::TempDir() + "timeline." + std::to_string(getpid());
    coordinator_.emplace(spec_, 1);
    for (int i = 0; i < trainers; ++i) Add("n" + std::to_string(i));
    ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) { return s.members_size() == trainers || Ended(s); }));
  }
  void Add(const std::string& node) {
    LocalTrainerOptions options;
    options.checkpoints = &store_;
    options.clock = [this] { return kMicroBatchSeconds * micro_batches_; };
    options.before_backward = [this](int64_t step, int) {
      ++micro_batches_;
      LocalTrainer* victim = step >= kill_at_ ? victim_.exchange(nullptr) : nullptr;
      if (victim != nullptr) victim->Kill();
    };
    options.timeline = timeline_;
    trainers_.push_back(std::make_unique<LocalTrainer>(*coordinator_, spec_, node, ++incarnations_, options));
  }
  void AwaitStep(int step) {
    ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) { return s.step() >= step || Ended(s); }));
  }
  void ExpectUndisturbedResult() {
    ASSERT_TRUE(coordinator_->Await(Ended)) << coordinator_->Status().DebugString();
    ASSERT_EQ(coordinator_->Status().state(), v1::SUCCEEDED) << coordinator_->Status().reason();
    TrainSpec spec = spec_;
    spec.checkpoint = {};
    LocalCoordinator alone(spec, 1);
    LocalTrainer only(alone, spec, "alone", 1);
    ASSERT_TRUE(alone.Await(Ended));
    EXPECT_EQ(coordinator_->Status().state_digest(), alone.Status().state_digest());
  }
  Begun ReadBegun() {
    Begun begun;
    std::ifstream file(timeline_);
    for (std::string line; std::getline(file, line);) {
      const auto mark = nlohmann::json::parse(line);
      if (mark["event"] == "joined") begun[mark["generation"]][mark["trainer"]];
      if (mark["event"] == "checkpoint") begun[mark["generation"]][mark["trainer"]].insert(mark["step"].get<int>());
    }
    return begun;
  }
  // Checks that every rank of a generation saved the same steps. The newest of these steps may be missing on a rank
  // that was lost.
  void ExpectRanksAgreed() {
    for (const auto& [generation, trainers] : ReadBegun()) {
      std::set<int> all;
      for (const auto& [trainer, steps] : trainers) all.insert(steps.begin(), steps.end());
      for (const auto& [trainer, steps] : trainers) {
        for (const int step : all) {
          const bool newest = step == *all.rbegin();
          EXPECT_TRUE(newest || steps.contains(step))
              << trainer << " did not save step " << step << " in generation " << generation;
        }
      }
    }
  }

  // Kills the trainer from within the first backward after `step` steps, so that the kill cannot come too late.
  void KillAt(int64_t step, LocalTrainer& trainer) {
    kill_at_ = step;
    victim_ = &trainer;
  }

  std::atomic<int> micro_batches_{0};
  std::atomic<int64_t> kill_at_{0};
  std::atomic<LocalTrainer*> victim_{nullptr};
  MemoryCheckpoints store_;
  std::string timeline_;
  TrainSpec spec_;
  int incarnations_ = 0;
  std::optional<LocalCoordinator> coordinator_;
  std::vector<std::unique_ptr<LocalTrainer>> trainers_;
};

TEST_F(EngineCheckpointTest, EveryStepsCountsSteps) {
  Start({.kind = CheckpointSpec::Kind::kEverySteps, .every_steps = 20}, 100, 1);
  ExpectUndisturbedResult();
  const Begun begun = ReadBegun();
  ASSERT_EQ(begun.size(), 1);
  EXPECT_EQ(begun.begin()->second.begin()->second, (std::set<int>{20, 40, 60, 80}));
  EXPECT_EQ(store_.Names().back().step, 100);
}

TEST_F(EngineCheckpointTest, EverySecondsFollowsTheClock) {
  // `kSteps` steps lie between two checkpoints.
  constexpr int kSteps = 20;
  Start({.kind = CheckpointSpec::Kind::kEverySeconds, .every_seconds = kSteps * kStepSeconds}, 300, 3);
  ExpectUndisturbedResult();
  ExpectRanksAgreed();
  const std::vector<checkpoint::ManifestName> names = store_.Names();
  // The limits for the number of checkpoints and for the steps between them are wide. Steps take unequal times by the
  // test's clock, which stands still while ranks wait for each other. A save, which delays the next one, may last
  // several of the test's short steps.
  EXPECT_GE(names.size(), 5);
  EXPECT_LE(names.size(), 300 / (kSteps - 3) + 1);
  for (size_t i = 1; i + 1 < names.size(); ++i) EXPECT_GE(names[i].step - names[i - 1].step, kSteps - 3);
}

TEST_F(EngineCheckpointTest, RanksAgreeThroughKills) {
  Start({.kind = CheckpointSpec::Kind::kEverySeconds, .every_seconds = 4 * kStepSeconds}, 1000, 3);
  // Trainer 0 is rank 0, which decides when to save. After its death another rank has to decide this.
  KillAt(300, *trainers_[0]);
  AwaitStep(60);
  trainers_[1]->Kill();
  AwaitStep(120);
  Add("n1");
  AwaitStep(400);
  trainers_[2]->BreakConnections();
  ExpectUndisturbedResult();
  ExpectRanksAgreed();
  EXPECT_GE(ReadBegun().size(), 2);
  EXPECT_GE(store_.Names().size(), 10);
}

TEST_F(EngineCheckpointTest, WhenAllAreKilledTheNewestIsTakenUp) {
  Start({.kind = CheckpointSpec::Kind::kEverySeconds, .every_seconds = 10 * kStepSeconds}, 400, 2);
  AwaitStep(100);
  trainers_[0]->Kill();
  trainers_[1]->Kill();
  Add("n0");
  Add("n1");
  ExpectUndisturbedResult();
  ExpectRanksAgreed();
  std::set<std::string> kinds;
  const v1::JobStatus status = coordinator_->Status();
  for (const v1::Fault& fault : status.faults()) kinds.insert(fault.kind());
  EXPECT_TRUE(kinds.contains("all_killed")) << status.DebugString();
  EXPECT_LT(coordinator_->Status().steps_redone(), 100);
}

TEST_F(EngineCheckpointTest, AutoTellsItsIntervalAndWhy) {
  Start({.kind = CheckpointSpec::Kind::kAuto}, 600, 2);
  KillAt(550, *trainers_[0]);
  ASSERT_TRUE(coordinator_->Await(
      [](const v1::JobStatus& s) { return s.checkpoint_interval_reason().find("not measured") != std::string::npos; }));
  EXPECT_EQ(coordinator_->Status().checkpoint_interval_seconds(), 30);
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) {
    return s.checkpoint_interval_reason().find("a checkpoint every") != std::string::npos;
  })) << coordinator_->Status().checkpoint_interval_reason();
  EXPECT_THAT(coordinator_->Status().checkpoint_interval_reason(), HasSubstr("0 interruptions in"));
  ExpectUndisturbedResult();
  ExpectRanksAgreed();
  EXPECT_EQ(coordinator_->Status().interruptions(), 1);
  EXPECT_GT(coordinator_->Status().node_hours(), 0);
  EXPECT_GE(store_.Names().size(), 2);
}

// When all nodes are about to go, the ranks save what fits in the time. The job then goes on from this checkpoint on
// other nodes.
TEST_F(EngineCheckpointTest, AFlushBeforeAllNodesAreGone) {
  Start({.kind = CheckpointSpec::Kind::kEverySteps, .every_steps = 1000}, 3000, 2);
  AwaitStep(50);
  for (const char* node : {"n0", "n1"}) coordinator_->Feed(core::DrainNode{node, 30, "notice"});
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.state() == v1::PENDING || Ended(s); }));
  ASSERT_EQ(store_.Names().size(), 1u);
  const int flushed = store_.Names().back().step;
  EXPECT_GE(flushed, 50);
  EXPECT_EQ(store_.urgent_steps(), std::set<int>{flushed});
  Add("n2");
  ExpectUndisturbedResult();
  EXPECT_EQ(coordinator_->Status().steps_redone(), 0);
}

TEST_F(EngineCheckpointTest, NothingIsTriedThatCannotEndInTime) {
  // The nodes leave 1.5 s after they were told. In this time the trainers cannot make `kSteps` steps.
  constexpr int kSteps = 8000;
  Start({.kind = CheckpointSpec::Kind::kEverySteps, .every_steps = 20}, kSteps, 2);
  AwaitStep(50);
  for (const char* node : {"n0", "n1"}) coordinator_->Feed(core::DrainNode{node, 1.5, "notice"});
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.state() == v1::PENDING || Ended(s); }));
  std::set<int> flushed = store_.urgent_steps();
  // Urgent saves are those for which training waits. The final checkpoint is one, too, but it has no deadline, so the
  // test does not count it.
  flushed.erase(kSteps);
  EXPECT_THAT(flushed, testing::IsEmpty());
  Add("n2");
  ExpectUndisturbedResult();
}

TEST_F(EngineCheckpointTest, SixteenBitsAreEnoughToGoOnFrom) {
  CheckpointSpec checkpoint{.kind = CheckpointSpec::Kind::kEverySteps, .every_steps = 20};
  checkpoint.precision = checkpoint::Precision::kBf16;
  Start(checkpoint, 400, 2);
  AwaitStep(100);
  trainers_[0]->Kill();
  trainers_[1]->Kill();
  Add("n0");
  Add("n1");
  ASSERT_TRUE(coordinator_->Await(Ended));
  ASSERT_EQ(coordinator_->Status().state(), v1::SUCCEEDED) << coordinator_->Status().reason();
  TrainSpec without = spec_;
  without.checkpoint = {};
  LocalCoordinator alone(without, 1);
  LocalTrainer only(alone, without, "alone", 1);
  ASSERT_TRUE(alone.Await(Ended));
  EXPECT_NE(coordinator_->Status().state_digest(), alone.Status().state_digest());
  EXPECT_NEAR(coordinator_->Status().loss(), alone.Status().loss(), 0.005 * alone.Status().loss());
}

TEST_F(EngineCheckpointTest, ABrokenStoreDoesNotStopTraining) {
  store_.SetBroken(true);
  Start({.kind = CheckpointSpec::Kind::kEverySeconds, .every_seconds = 5 * kStepSeconds}, 400, 2);
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.checkpoints_failed() > 0; }));
  EXPECT_TRUE(store_.Names().empty());
  store_.SetBroken(false);
  ExpectUndisturbedResult();
  EXPECT_GE(store_.Names().size(), 2);
}

// A generation whose saves the store refuses may have been formed by a coordinator that is out of date. It has to end,
// so that it does not go on training while a newer coordinator knows nothing of it.
TEST_F(EngineCheckpointTest, AGenerationOfWhichTheStoreTakesNothingEnds) {
  store_.Refuse(3);
  Start({.kind = CheckpointSpec::Kind::kEverySteps, .every_steps = 20}, 400, 2);
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.generation() > 3; }));
  ExpectUndisturbedResult();
  EXPECT_GT(store_.Names().front().generation, 3);
}

}  // namespace
}  // namespace rekindle::train
