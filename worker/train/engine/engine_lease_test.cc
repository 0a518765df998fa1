// Tests engines that hear nothing from the coordinator any more. Each engine has a lease clock of its own that the test
// lets jump ahead.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "worker/train/testing/engine_test_fixture.h"

namespace rekindle::train {
namespace {

constexpr size_t kTrainers = 3;
// From step `kCutAt` on no trainer hears anything from the coordinator.
constexpr int kCutAt = 20;
// `kLongerThanL` is longer than the lease, which lasts 600 seconds.
constexpr double kLongerThanL = 700;

class EngineLeaseTest : public EngineTest {
 protected:
  void SetUp() override {
    for (auto& ahead : ahead_) ahead = 0;
    lease_clock_ = [this](size_t trainer) { return 1000 + ahead_.at(trainer); };
    timeline_ = testing::TempDir() + "lease." + std::to_string(getpid());
    // A generation gets a lease only if another one could be formed on other nodes, such as the test's spare node.
    has_spare_ = true;
    min_workers_ = static_cast<int>(kTrainers);
  }
  void TearDown() override {
    Clear();
    unlink(timeline_.c_str());
  }
  // Cuts the coordinator off at `kCutAt`. From then on the clock of each trainer that `jumps` selects jumps ahead
  // before the trainer takes part in another exchange.
  void StartAndCut(int steps, const std::function<bool(size_t trainer)>& jumps) {
    Start(SmallSpec(steps), kTrainers, [this, jumps](size_t trainer, int64_t step) {
      if (trainer == 0 && step >= kCutAt && !cut_) {
        coordinator_->SetAway(true);
        // `cut_` is set only after the coordinator is away. A trainer whose clock jumps while the coordinator still
        // answers would get a lease that begins after the jump.
        cut_ = true;
      }
      if (cut_ && !back_ && ahead_.at(trainer) == 0 && jumps(trainer)) ahead_.at(trainer) = kLongerThanL;
    });
  }
  struct Mark {
    std::string trainer;
    int generation = 0;
    int step = 0;
  };
  std::vector<Mark> Marks(const std::string& event) const {
    std::vector<Mark> marks;
    std::ifstream file(timeline_);
    for (std::string line; std::getline(file, line);) {
      // The last line of the timeline may be incomplete, because a trainer may still be writing it.
      const auto mark = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (mark.is_discarded() || mark["event"] != event) continue;
      marks.push_back({mark["trainer"], mark["generation"], mark["step"]});
    }
    return marks;
  }
  bool AwaitMarks(const std::string& event, size_t count) const {
    const double until = common::SteadySeconds() + 60;
    while (Marks(event).size() < count && common::SteadySeconds() < until) std::this_thread::yield();
    return Marks(event).size() >= count;
  }
  void ComeBack() {
    back_ = true;
    coordinator_->Restart();
  }

  std::array<std::atomic<double>, kTrainers> ahead_;
  std::atomic<bool> cut_{false};
  std::atomic<bool> back_{false};
};

TEST_F(EngineLeaseTest, AllStandStillAtOneStepAndGoOnWithoutLosingAny) {
  StartAndCut(200, [](size_t) { return true; });
  const int generation = coordinator_->Status().generation();
  ASSERT_TRUE(AwaitMarks("standing", kTrainers));
  std::set<int> steps;
  for (const Mark& mark : Marks("standing")) steps.insert(mark.step);
  EXPECT_EQ(steps.size(), 1u);
  const size_t before = Marks("step").size();
  EXPECT_EQ(before, kTrainers * static_cast<size_t>(*steps.begin())) << "no step is applied while they stand";
  ComeBack();
  ExpectUndisturbedResult();
  EXPECT_EQ(coordinator_->Status().generation(), generation);
  EXPECT_EQ(coordinator_->Status().steps_redone(), 0);
  EXPECT_EQ(Marks("step").size(), kTrainers * 200);
}

TEST_F(EngineLeaseTest, OneLeaseThatHoldsIsEnoughForAll) {
  StartAndCut(200, [](size_t trainer) { return trainer != 1; });
  ASSERT_TRUE(AwaitMarks("step", kTrainers * 100));
  EXPECT_TRUE(Marks("standing").empty());
  ComeBack();
  ExpectUndisturbedResult();
}

// Trainer 2 sleeps right after it has exchanged messages with the others. When it wakes, the messages that the leases
// of other ranks hold are too old for it, so it must not step.
TEST_F(EngineLeaseTest, OneThatSleptBetweenTheExchangeAndItsEndBelievesNobody) {
  std::atomic<bool> sleeps{false};
  before_collective_ = [&](size_t trainer) {
    if (trainer == 2 && sleeps) ahead_.at(2) = ahead_.at(2) + kLongerThanL;
  };
  Start(SmallSpec(400), kTrainers);
  AwaitStep(kCutAt);
  const int generation = coordinator_->Status().generation();
  sleeps = true;
  ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) { return s.generation() > generation || Ended(s); }));
  sleeps = false;
  ExpectUndisturbedResult();
  EXPECT_GT(coordinator_->Status().generation(), generation);
}

}  // namespace
}  // namespace rekindle::train
