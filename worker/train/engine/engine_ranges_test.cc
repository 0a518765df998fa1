// Tests engines of unequal speed. The ranges of micro-batches follow the measured speeds, and the weights do not depend
// on the ranges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "common/log/log.h"
#include "worker/train/testing/local_trainer.h"

namespace rekindle::train {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

constexpr int kMicroBatches = 12;
// `kFast` and `kSlow` are the times that a fast and a slow node need for one micro-batch.
constexpr auto kFast = std::chrono::milliseconds(2);
constexpr auto kSlow = std::chrono::milliseconds(6);

bool Ended(const v1::JobStatus& status) { return status.state() == v1::SUCCEEDED || status.state() == v1::FAILED; }

int SizeOf(const v1::JobStatus& status, const std::string& node) {
  for (const v1::MemberStatus& member : status.members()) {
    if (member.node() == node) return member.micro_batch_end() - member.micro_batch_begin();
  }
  return -1;
}

class EngineRangesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("REKINDLE_LOG_LEVEL", "error", 0);
    log::Init("engine_ranges_test");
  }
  // Starts a trainer on each of `nodes`, and returns when all of them step together. The slow node is the one named
  // "slow".
  void Start(const std::vector<std::string>& nodes, int steps, bool exact = true) {
    spec_.seed = 5;
    spec_.steps = steps;
    spec_.micro_batch = 3;
    spec_.global_batch = kMicroBatches * spec_.micro_batch;
    spec_.context = 12;
    spec_.exact = exact;
    spec_.clip_norm = 1;
    spec_.optimizer.learning_rate = 0.05;
    coordinator_.emplace(spec_, 1);
    for (const std::string& node : nodes) Add(node);
    Await([&](const v1::JobStatus& s) { return s.members_size() == static_cast<int>(nodes.size()); });
  }
  void Add(const std::string& node) {
    LocalTrainerOptions options;
    options.before_backward = [this, node](int64_t, int) {
      if (!hurry_) std::this_thread::sleep_for(node == "slow" ? kSlow : kFast);
    };
    trainers_[node] = std::make_unique<LocalTrainer>(*coordinator_, spec_, node, ++incarnations_, options);
  }
  void Await(const std::function<bool(const v1::JobStatus&)>& done) {
    ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) { return done(s) || Ended(s); }))
        << coordinator_->Status().DebugString();
    ASSERT_FALSE(Ended(coordinator_->Status())) << coordinator_->Status().DebugString();
  }
  std::string EndDigest() {
    hurry_ = true;
    EXPECT_TRUE(coordinator_->Await(Ended)) << coordinator_->Status().DebugString();
    const v1::JobStatus status = coordinator_->Status();
    EXPECT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
    EXPECT_FALSE(status.state_digest().empty());
    return status.state_digest();
  }
  std::string UndisturbedDigest() {
    LocalCoordinator alone(spec_, 1);
    LocalTrainer only(alone, spec_, "alone", 1, {});
    EXPECT_TRUE(alone.Await(Ended)) << alone.Status().DebugString();
    return alone.Status().state_digest();
  }

  TrainSpec spec_;
  // While `hurry_` is set, no trainer is slowed down.
  std::atomic<bool> hurry_ = false;
  int incarnations_ = 0;
  std::optional<LocalCoordinator> coordinator_;
  std::map<std::string, std::unique_ptr<LocalTrainer>> trainers_;
};

TEST_F(EngineRangesTest, ASlowRankGetsLessInTheSameGeneration) {
  Start({"fast", "slow"}, 1000);
  const int generation = coordinator_->Status().generation();
  Await([](const v1::JobStatus& s) { return SizeOf(s, "slow") <= 4 && SizeOf(s, "fast") >= 8 && s.step() >= 20; });
  const v1::JobStatus status = coordinator_->Status();
  EXPECT_EQ(status.generation(), generation);
  ASSERT_EQ(status.levers_size(), 1);
  EXPECT_EQ(status.levers(0).lever(), "ranges");
  // `text` tells of the newest change of the ranges. On a busy machine that is not always the first change.
  EXPECT_THAT(status.levers(0).text(), HasSubstr("ranges go from "));
  EXPECT_THAT(status.levers(0).text(), HasSubstr("slow/0 takes"));
  Await([](const v1::JobStatus& s) { return s.members(1).straggler() == "compute"; });
  EXPECT_EQ(coordinator_->Status().members(0).straggler(), "");
  EXPECT_EQ(EndDigest(), UndisturbedDigest());
}

// The coordinator chooses the ranges of the next membership according to the speeds that the ranks have measured, so
// that the ranks need not measure them again.
TEST_F(EngineRangesTest, SharesSurviveAKillAndAJoinerGetsItsOwn) {
  Start({"a", "b", "slow"}, 1500);
  Await([](const v1::JobStatus& s) { return s.step() >= 15 && SizeOf(s, "slow") <= 3; });
  trainers_["b"]->Kill();
  Await([](const v1::JobStatus& s) { return s.members_size() == 2; });
  EXPECT_THAT(SizeOf(coordinator_->Status(), "slow"), AllOf(Ge(2), Le(4)));
  const int step = coordinator_->Status().step();
  Await([&](const v1::JobStatus& s) { return s.step() >= step + 5; });
  Add("c");
  Await([](const v1::JobStatus& s) { return s.members_size() == 3; });
  Await([](const v1::JobStatus& s) { return SizeOf(s, "slow") <= 3 && SizeOf(s, "c") >= 4; });
  EXPECT_EQ(EndDigest(), UndisturbedDigest());
  EXPECT_EQ(coordinator_->Status().steps_redone(), 0);
}

TEST_F(EngineRangesTest, KillsAndBreaksWhileRangesMove) {
  Start({"a", "slow", "b"}, 1500);
  Await([](const v1::JobStatus& s) { return s.step() >= 3; });
  // The connections of trainer "a" break before the ranks of its generation have measured enough steps to change the
  // ranges.
  trainers_["a"]->BreakConnections();
  Await([](const v1::JobStatus& s) { return SizeOf(s, "slow") <= 3; });
  trainers_["slow"]->BreakConnections();
  Await([&, from = coordinator_->Status().step()](const v1::JobStatus& s) { return s.step() >= from + 5; });
  trainers_["slow"]->Kill();
  Await([](const v1::JobStatus& s) { return s.members_size() == 2; });
  EXPECT_EQ(EndDigest(), UndisturbedDigest());
}

TEST_F(EngineRangesTest, FloatModeFollowsToo) {
  Start({"fast", "slow"}, 300, /*exact=*/false);
  Await([](const v1::JobStatus& s) { return SizeOf(s, "slow") <= 4; });
  EndDigest();
}

}  // namespace
}  // namespace rekindle::train
