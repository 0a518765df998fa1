// Tests when a trainer saves, and what it reports of its saves. The test plays the trainer, its coordinator and its
// store.
#include "worker/train/save/saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/log/log.h"
#include "worker/comm/testing/in_process.h"
#include "worker/train/testing/bigram_model.h"
#include "worker/train/testing/fake_control.h"
#include "worker/train/testing/host_state.h"
#include "worker/train/testing/memory_checkpoints.h"
#include "worker/train/testing/small_spec.h"

namespace rekindle::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr double kStepSeconds = 1;

TrainSpec SpecOfTest() {
  TrainSpec spec = SmallSpec(100);
  spec.checkpoint = {.kind = CheckpointSpec::Kind::kEverySteps, .every_steps = 2};
  return spec;
}

class SaverTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("REKINDLE_LOG_LEVEL", "error", 0);
    log::Init("saver_test");
  }
  void SetUp() override { Enter(1); }

  // Begins a generation in which this trainer is alone.
  void Enter(int generation) {
    Membership membership;
    membership.generation = generation;
    membership.members.resize(1);
    membership.step = state_.scalars.step;
    if (generation > 1) membership.source = Membership::Source::kRank;
    copied_step_ = 0;
    communicator_ = std::move(comm::MakeInProcess(1, generation, {}).front());
    saver_.Enter(generation, 0);
    saver_.Join(membership, state_.scalars.step);
  }
  // Makes one step as the engine does, and returns whether it began a save.
  bool Step(bool yields = false) {
    const StepExtras extras = Announced();
    StepOutcome outcome;
    outcome.record.tokens = 1;
    outcome.begin_checkpoint = extras.begin_checkpoint;
    outcome.yield = yields;
    outcome.committed_step = extras.committed_step;
    outcome.messages.resize(1);
    ++state_.scalars.step;
    now_ += kStepSeconds;
    const bool begun = saver_.StepDone(outcome, kStepSeconds, true, state_);
    if (begun) copied_step_ = state_.scalars.step;
    return begun;
  }
  // Returns what this rank announces in its next step, and passes it to Gather(). If a save was begun, this is repeated
  // until its copy has ended. The test need not call WaitCopied(), because it does not change the state that is copied.
  StepExtras Announced() {
    StepExtras extras;
    for (;;) {
      saver_.Announce(state_.scalars.step, kStepSeconds, 1, &extras);
      saver_.Gather(std::vector<StepMessage>{{.checkpoint_step = extras.checkpoint_step, .shards = extras.shards}});
      if (copied_step_ == 0 || extras.checkpoint_step == copied_step_) break;
      std::this_thread::yield();
    }
    copied_step_ = 0;
    return extras;
  }
  void AwaitCommitted(int64_t step) {
    EXPECT_TRUE(control_.Await([&](const Report& report) { return report.committed.step == step; }));
  }
  std::vector<int64_t> SavedSteps(MemoryCheckpoints& store) {
    std::vector<int64_t> steps;
    for (const checkpoint::ManifestName& name : store.Names()) steps.push_back(name.step);
    return steps;
  }

  const TrainSpec spec_ = SpecOfTest();
  BigramModel model_;
  FakeControl control_;
  Reporter reporter_{control_};
  MemoryCheckpoints store_, elsewhere_;
  const std::unique_ptr<checkpoint::CheckpointClient> client_ = store_.ClientOf("n1/0/1");
  const std::unique_ptr<Placement> placement_ = MakePlacement(TestHost(), spec_, model_.layout(), reporter_);
  TrainState state_ = *placement_->Zero();
  double now_ = 1000;
  // `copied_step_` is the step of the save whose shards were not announced yet, or 0.
  int64_t copied_step_ = 0;
  std::unique_ptr<comm::Communicator> communicator_;
  Saver saver_{
      {.spec_digest = "spec"},
      {.device = TestHost(),
       .spec = spec_,
       .layout = model_.layout(),
       .placement = *placement_,
       .control = control_,
       .reporter = reporter_,
       .checkpoints = client_.get(),
       .open_store = [this](const std::string& store) -> absl::StatusOr<std::unique_ptr<checkpoint::CheckpointClient>> {
         if (store == "closed") return absl::UnavailableError("the store is closed");
         return elsewhere_.ClientOf("n1/0/1");
       },
       .clock = [this] { return now_; },
       .stopping = [] { return false; }}};
};

TEST_F(SaverTest, ACheckpointThatIsDueIsBegunOnce) {
  EXPECT_FALSE(Step());
  EXPECT_TRUE(Step());
  // The save of step 2 has begun. The next save is due two steps later, even if the checkpoint of step 2 is not durable
  // by then.
  EXPECT_FALSE(Step());
  AwaitCommitted(2);
  EXPECT_TRUE(Step());
  EXPECT_FALSE(Step());
  AwaitCommitted(4);
  EXPECT_THAT(SavedSteps(store_), ElementsAre(2, 4));
  EXPECT_EQ(control_.report().checkpoints_failed, 0);
  EXPECT_TRUE(saver_.IsDurable(4));
  EXPECT_FALSE(saver_.IsDurable(5));
}

TEST_F(SaverTest, AFailedCheckpointIsToldAndTheNextIsTried) {
  store_.SetBroken(true);
  Step();
  EXPECT_TRUE(Step());
  EXPECT_TRUE(control_.Await([](const Report& report) { return report.checkpoints_failed == 1; }));
  EXPECT_THAT(control_.report().checkpoint_error, HasSubstr("the store of this test is full"));
  store_.SetBroken(false);
  Step();
  EXPECT_TRUE(Step());
  Step();
  AwaitCommitted(4);
  EXPECT_EQ(control_.report().checkpoint_error, "");
  EXPECT_EQ(control_.report().checkpoints_failed, 1);
  EXPECT_THAT(SavedSteps(store_), ElementsAre(4));
}

TEST_F(SaverTest, NoSaveIsBegunAtTheEndOfAGeneration) {
  Step();
  EXPECT_FALSE(Step(/*yields=*/true));
  Enter(2);
  // A save was due at the last step of generation 1, but none began because the ranks yielded. So one is due at once in
  // generation 2.
  EXPECT_TRUE(Step());
}

TEST_F(SaverTest, NothingOfAnOldGenerationBecomesACheckpointOfANewOne) {
  Step();
  EXPECT_TRUE(Step());
  Enter(2);
  for (int step = 0; step < 3; ++step) Step();
  AwaitCommitted(3);
  ASSERT_EQ(store_.Names().size(), 1u);
  EXPECT_EQ(store_.Names().front().generation, 2);
}

TEST_F(SaverTest, AFlushThatCannotEndInTimeIsNotBegun) {
  state_.scalars.step = 7;
  ASSERT_TRUE(saver_.SaveNow(*communicator_, state_, now_ + 1).ok());
  EXPECT_THAT(control_.report().flush, StartsWith("no flush: of the 1.0 s left"));
  EXPECT_THAT(store_.Names(), IsEmpty());
  EXPECT_THAT(store_.urgent_steps(), IsEmpty());
  ASSERT_TRUE(saver_.SaveNow(*communicator_, state_, now_ + 1000).ok());
  EXPECT_THAT(SavedSteps(store_), ElementsAre(7));
  EXPECT_THAT(store_.urgent_steps(), ElementsAre(7));
}

TEST_F(SaverTest, AFinalStateGoesToTheStoreThatIsNamed) {
  state_.scalars.step = 100;
  ASSERT_TRUE(saver_.SaveFinal(*communicator_, state_, 0, "closed").ok());
  EXPECT_EQ(control_.report().checkpoint_error, "the store is closed");
  EXPECT_FALSE(saver_.IsDurable(100));
  ASSERT_TRUE(saver_.SaveFinal(*communicator_, state_, 0, "elsewhere").ok());
  EXPECT_TRUE(saver_.IsDurable(100));
  EXPECT_THAT(store_.Names(), IsEmpty());
  EXPECT_THAT(SavedSteps(elsewhere_), ElementsAre(100));
  saver_.KeepEnd();
  EXPECT_EQ(store_.job_file(), "file of the end");
  EXPECT_EQ(elsewhere_.job_file(), "file of the end");
}

TEST_F(SaverTest, ARefusedGenerationMustNotGoOn) {
  store_.Refuse(1);
  for (int step = 0; step < 3; ++step) Step();
  EXPECT_TRUE(control_.Await([](const Report& report) { return report.checkpoints_failed == 1; }));
  const absl::Status status = saver_.CheckNotRefused();
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_THAT(std::string(status.message()), StartsWith("the job's store knows of a newer generation"));
  Enter(2);
  EXPECT_TRUE(saver_.CheckNotRefused().ok());
}

}  // namespace
}  // namespace rekindle::train
