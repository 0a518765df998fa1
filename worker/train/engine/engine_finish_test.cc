// Tests the end of jobs whose store does not take the final checkpoint. The trainers keep the final state, hand it on,
// and save it later or elsewhere. If all its holders are gone, the state is computed again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "worker/train/testing/engine_test_fixture.h"

namespace rekindle::train {
namespace {

using testing::HasSubstr;

constexpr int kSteps = 40;
constexpr int kBreaksAt = 25;

class EngineFinishTest : public EngineTest {
 protected:
  // Starts a job whose store breaks before the last step, and waits until the job has made all its steps.
  void StartAndFinishInVain(int trainers, bool sharded = false) {
    TrainSpec spec = SmallSpec(kSteps);
    spec.checkpoint = {.kind = CheckpointSpec::Kind::kEverySteps, .every_steps = 10};
    spec.sharded_state = sharded;
    if (sharded) ballast_ = 1 << 20;
    Start(spec, trainers, [this](size_t, int64_t step) {
      if (step == kBreaksAt && !broke_.exchange(true)) store_.SetBroken(true);
    });
    AwaitFinishing();
    EXPECT_LT(Newest(store_), kSteps);
  }
  void AwaitFinishing() {
    ASSERT_TRUE(coordinator_->Await(HasMadeAllSteps));
    ASSERT_EQ(coordinator_->Status().state(), v1::FINISHING) << coordinator_->Status().DebugString();
    EXPECT_THAT(coordinator_->Status().reason(), HasSubstr("the store of this test is full"));
  }
  // Waits until the coordinator has formed a generation of `count` members that only saves the final state.
  void AwaitHolders(int count) {
    ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) {
      return (s.state() == v1::FINISHING && s.generation() > 1 && s.members_size() == count) || Ended(s);
    })) << coordinator_->Status().DebugString();
    ASSERT_EQ(coordinator_->Status().state(), v1::FINISHING) << coordinator_->Status().DebugString();
  }
  LocalTrainer& TrainerAt(const std::string& id) {
    for (const auto& trainer : trainers_) {
      if (trainer->id() == id) return *trainer;
    }
    ADD_FAILURE() << "no trainer " << id;
    return *trainers_.front();
  }
  LocalTrainer& Holder(int rank = 0) { return TrainerAt(coordinator_->Status().members(rank).trainer()); }
  static int Newest(MemoryCheckpoints& store) { return store.Names().empty() ? -1 : store.Names().back().step; }
  // Makes the store work again, and lets the job retry its final save at once.
  void Heal() {
    store_.SetBroken(false);
    coordinator_->Feed(core::ResumeJob{LocalCoordinator::kUid});
  }
  void ExpectSavedResult() {
    ExpectUndisturbedResult();
    EXPECT_EQ(Newest(store_), kSteps);
    EXPECT_FALSE(coordinator_->Status().has_finishing());
  }

 private:
  std::atomic<bool> broke_{false};
};

TEST_F(EngineFinishTest, OneKeepsAWholeStateUntilItsStoreTakesIt) {
  StartAndFinishInVain(3);
  AwaitHolders(1);
  Heal();
  ExpectSavedResult();
}

TEST_F(EngineFinishTest, ThoseThatHaveAShardedStateTogetherKeepIt) {
  StartAndFinishInVain(4, /*sharded=*/true);
  AwaitHolders(2);
  Heal();
  ExpectSavedResult();
}

TEST_F(EngineFinishTest, ItIsHandedOnBeforeItsNodeLeaves) {
  StartAndFinishInVain(2);
  AwaitHolders(1);
  // A new trainer can take over the final state although it cannot look into the store.
  store_.SetUnreadable(true);
  const std::string node = coordinator_->Status().members(0).node();
  Add("new");
  coordinator_->Feed(core::DrainNode{node, 0, "asked"});
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) {
    return (s.members_size() == 1 && s.members(0).node() == "new") || Ended(s);
  })) << coordinator_->Status().DebugString();
  EXPECT_EQ(coordinator_->Status().state(), v1::FINISHING);
  store_.SetUnreadable(false);
  Heal();
  ExpectSavedResult();
  EXPECT_EQ(coordinator_->Status().steps_redone(), 0);
}

TEST_F(EngineFinishTest, AShardedOneIsHandedOnToo) {
  StartAndFinishInVain(4, /*sharded=*/true);
  AwaitHolders(2);
  const std::string node = coordinator_->Status().members(0).node();
  Add("new");
  coordinator_->Feed(core::DrainNode{node, 0, "asked"});
  ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) {
    const bool left = s.members_size() == 2 && s.members(0).node() != node && s.members(1).node() != node;
    return left || Ended(s);
  })) << coordinator_->Status().DebugString();
  EXPECT_EQ(coordinator_->Status().state(), v1::FINISHING);
  Heal();
  ExpectSavedResult();
  EXPECT_EQ(coordinator_->Status().steps_redone(), 0);
}

TEST_F(EngineFinishTest, WhoeverHadItIsKilledAndItIsMadeAgain) {
  StartAndFinishInVain(2);
  AwaitHolders(1);
  Holder().Kill();
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.state() == v1::PENDING || Ended(s); }));
  EXPECT_THAT(coordinator_->Status().reason(), HasSubstr("waits for 1 more worker"));
  Add("new");
  // The job may run for a few milliseconds only before it is finishing again.
  ASSERT_TRUE(coordinator_->Await([](const v1::JobStatus& s) { return s.state() != v1::PENDING; }));
  AwaitFinishing();
  Heal();
  ExpectSavedResult();
  EXPECT_GE(coordinator_->Status().steps_redone(), kSteps - kBreaksAt);
}

TEST_F(EngineFinishTest, HalfAShardedStateIsNone) {
  StartAndFinishInVain(4, /*sharded=*/true);
  AwaitHolders(2);
  store_.SetBroken(false);
  Holder(1).Kill();
  ExpectSavedResult();
}

TEST_F(EngineFinishTest, AnotherStoreTakesIt) {
  StartAndFinishInVain(2);
  coordinator_->Feed(core::ResumeJob{.uid = LocalCoordinator::kUid, .store = "elsewhere"});
  ExpectUndisturbedResult();
  EXPECT_EQ(Newest(elsewhere_), kSteps);
  EXPECT_LT(Newest(store_), kSteps);
  EXPECT_EQ(coordinator_->Status().final_store(), "elsewhere");
}

TEST_F(EngineFinishTest, AnotherStoreTakesAShardedOne) {
  StartAndFinishInVain(3, /*sharded=*/true);
  coordinator_->Feed(core::ResumeJob{.uid = LocalCoordinator::kUid, .store = "elsewhere"});
  ExpectUndisturbedResult();
  EXPECT_EQ(Newest(elsewhere_), kSteps);
}

TEST_F(EngineFinishTest, ACoordinatorThatIsRestartedKeepsItToo) {
  StartAndFinishInVain(2);
  AwaitHolders(1);
  coordinator_->Restart();
  EXPECT_EQ(coordinator_->Status().state(), v1::FINISHING);
  Heal();
  ExpectSavedResult();
}

TEST_F(EngineFinishTest, ItIsGivenUpOnlyWhenTheUserSaysSo) {
  StartAndFinishInVain(1);
  coordinator_->Feed(core::CancelJob{LocalCoordinator::kUid});
  coordinator_->Feed(core::PauseJob{LocalCoordinator::kUid});
  EXPECT_EQ(coordinator_->Status().state(), v1::FINISHING);
  coordinator_->Feed(core::CancelJob{LocalCoordinator::kUid, /*discard=*/true});
  EXPECT_EQ(coordinator_->Status().state(), v1::CANCELLED);
}

}  // namespace
}  // namespace rekindle::train
