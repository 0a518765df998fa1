// Tests generations without a coordinator. Each rank is a thread, and the test tells it what the membership is and what
// to do.
#include "worker/train/engine/generation_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/log/log.h"
#include "common/time/clock.h"
#include "worker/comm/testing/in_process.h"
#include "worker/device/exchange/exchange_maker.h"
#include "worker/train/testing/bigram_model.h"
#include "worker/train/testing/fake_control.h"
#include "worker/train/testing/host_state.h"
#include "worker/train/testing/memory_checkpoints.h"
#include "worker/train/testing/small_spec.h"

namespace rekindle::train {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

constexpr int kSteps = 12;
// The deadlines of the communicator are long because a busy machine is slow.
constexpr comm::Deadlines kPatience{.connect_seconds = 60, .progress_seconds = 60};

// Holds what one rank keeps from generation to generation.
class Rank {
 public:
  Rank(TrainSpec spec, MemoryCheckpoints* store, const std::string& name)
      : spec_(std::move(spec)), client_(store != nullptr ? store->ClientOf(name) : nullptr) {
    state_.scalars.loss_scale = judge_.InitialLossScale();
    EXPECT_TRUE(model_.Initialize(spec_.seed, nullptr, state_.weights).ok());
    EXPECT_TRUE(steps_.Allocate().ok());
  }

  // Runs a generation of this rank, from the state that the rank has now until the generation ends.
  absl::Status Run(const Membership& membership, comm::Communicator& communicator) {
    control.Grant(membership.generation);
    reporter_.Enter(membership);
    saver_.Enter(membership.generation, communicator.rank());
    saver_.Join(membership, step());
    device::ExchangeMaker exchanges(TestHost(), {});
    const std::unique_ptr<device::Exchange> exchange = *exchanges.Make(communicator, device::Transport::kHost);
    GenerationRun run(membership, *exchange, parts_);
    absl::Status status = placement_->Enter(membership, communicator.rank());
    if (status.ok()) status = placement_->MakeRoom(state_);
    if (status.ok()) status = run.Run();
    if (!status.ok()) communicator.Abort(status);
    out_of_memory = run.out_of_memory();
    return status;
  }
  int64_t step() const { return state_.scalars.step; }

  BigramModel model;
  FakeControl control;
  bool out_of_memory = false;

 private:
  const TrainSpec spec_;
  ChainBatches batches_;
  const std::unique_ptr<checkpoint::CheckpointClient> client_;
  Reporter reporter_{control};
  MetricsBoard metrics_;
  Timeline timeline_{"", "rank"};
  Teller teller_{control, reporter_, metrics_, timeline_};
  const std::unique_ptr<Placement> placement_ = MakePlacement(TestHost(), spec_, model.layout(), reporter_);
  TrainState state_ = *placement_->Zero();
  const StepJudge judge_{spec_, model.layout()};
  DeviceModel model_{TestHost(), model};
  StepRunner steps_{TestHost(), model_, batches_, spec_, reporter_, metrics_};
  RankSpeed speed_;
  Saver saver_{{.spec_digest = "spec"},
               {.device = TestHost(),
                .spec = spec_,
                .layout = model.layout(),
                .placement = *placement_,
                .control = control,
                .reporter = reporter_,
                .checkpoints = client_.get(),
                .clock = common::SteadySeconds,
                .stopping = [] { return false; }}};
  const GenerationParts parts_{.device = TestHost(),
                               .spec = spec_,
                               .layout = model.layout(),
                               .control = control,
                               .reporter = reporter_,
                               .teller = teller_,
                               .saver = saver_,
                               .placement = *placement_,
                               .steps = steps_,
                               .judge = judge_,
                               .state = state_,
                               .speed = speed_,
                               .clock = common::SteadySeconds,
                               .stopping = [] { return false; }};
};

class GenerationRunTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("REKINDLE_LOG_LEVEL", "error", 0);
    log::Init("generation_run_test");
  }

  void Start(int world_size, const TrainSpec& spec = SmallSpec(kSteps)) {
    spec_ = spec;
    ranks_.clear();
    for (int i = 0; i < world_size; ++i) {
      MemoryCheckpoints* store = spec.checkpoint.kind != CheckpointSpec::Kind::kNever ? &store_ : nullptr;
      ranks_.push_back(std::make_unique<Rank>(spec, store, "n" + std::to_string(i) + "/0/1"));
    }
  }
  Membership NextGeneration() {
    Membership membership;
    membership.generation = ++generation_;
    const int world_size = static_cast<int>(ranks_.size());
    for (int i = 0; i < world_size; ++i) {
      Member& member = membership.members.emplace_back();
      member.trainer = "n" + std::to_string(i) + "/0/1";
      member.node = "n" + std::to_string(i);
      member.begin = spec_.micro_batches() * i / world_size;
      member.end = spec_.micro_batches() * (i + 1) / world_size;
    }
    membership.step = ranks_[0]->step();
    if (generation_ > 1) membership.source = Membership::Source::kRank;
    return membership;
  }
  // Runs a generation of all ranks, and returns how it ended for each of them.
  std::vector<absl::Status> RunGeneration() {
    const Membership membership = NextGeneration();
    auto communicators = comm::MakeInProcess(static_cast<int>(ranks_.size()), membership.generation, kPatience);
    std::vector<absl::Status> ends(ranks_.size());
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      threads.emplace_back([&, i] { ends[i] = ranks_[i]->Run(membership, *communicators[i]); });
    }
    threads.clear();
    return ends;
  }
  void ExpectOk(const std::vector<absl::Status>& ends) {
    for (const absl::Status& end : ends) EXPECT_TRUE(end.ok()) << end;
  }
  // Makes the rank hear `directive` while it computes the step that leads from `step` to `step` + 1. The rank tells the
  // others of the directive in its message of the following step.
  void SayAt(size_t rank, int64_t step, const Directive& directive) {
    ranks_[rank]->model.before_backward = [this, rank, step, directive](int64_t now, int) {
      if (now == step) ranks_[rank]->control.Say(directive);
    };
  }
  Report ReportOf(size_t rank) const { return ranks_[rank]->control.report(); }
  // Returns the digest of the job's final state when a single rank runs the job without a disturbance.
  std::string UndisturbedDigest() {
    generation_ = 0;
    Start(1);
    ExpectOk(RunGeneration());
    return ReportOf(0).state_digest;
  }

  TrainSpec spec_;
  MemoryCheckpoints store_;
  int generation_ = 0;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

TEST_F(GenerationRunTest, RanksThatMakeAllStepsHaveTheResultOfOne) {
  Start(3);
  ExpectOk(RunGeneration());
  std::vector<std::string> digests;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    EXPECT_EQ(ReportOf(i).phase, Phase::kFinished);
    EXPECT_EQ(ReportOf(i).completed_step, kSteps);
    digests.push_back(ReportOf(i).state_digest);
  }
  EXPECT_THAT(digests, testing::Each(UndisturbedDigest()));
}

TEST_F(GenerationRunTest, AYieldIsAgreedAtABoundary) {
  Start(2);
  // Only rank 1 is told to yield. It tells rank 0 in its next message, so both ranks yield at the same step boundary.
  SayAt(1, 4, {.action = Directive::Action::kYield});
  ExpectOk(RunGeneration());
  for (size_t i = 0; i < ranks_.size(); ++i) {
    EXPECT_EQ(ReportOf(i).phase, Phase::kQuiesced);
    EXPECT_EQ(ranks_[i]->step(), 6);
    EXPECT_THAT(ReportOf(i).assigned, IsEmpty());
  }
  // In the next generation no rank is told to yield, so the generation goes on to the end of the job.
  ranks_[1]->control.Say({.action = Directive::Action::kRun});
  ranks_[1]->model.before_backward = nullptr;
  ExpectOk(RunGeneration());
  const std::string digest = ReportOf(0).state_digest;
  EXPECT_EQ(digest, UndisturbedDigest());
}

TEST_F(GenerationRunTest, ALackOfMemoryEndsOneGenerationAndNotTheNext) {
  Start(1);
  std::atomic<bool> thrown = false;
  ranks_[0]->model.before_backward = [&](int64_t step, int index) {
    if (step == 3 && index == 2 && !thrown.exchange(true)) throw std::bad_alloc();
  };
  const absl::Status end = RunGeneration().front();
  EXPECT_TRUE(absl::IsResourceExhausted(end)) << end;
  EXPECT_TRUE(ranks_[0]->out_of_memory);
  EXPECT_EQ(ranks_[0]->step(), 3);
  ExpectOk(RunGeneration());
  EXPECT_FALSE(ranks_[0]->out_of_memory);
  const std::string digest = ReportOf(0).state_digest;
  EXPECT_EQ(digest, UndisturbedDigest());
}

TEST_F(GenerationRunTest, TheDeadlineOfAFlushDiesWithItsGeneration) {
  TrainSpec spec = SmallSpec(kSteps);
  spec.checkpoint = {.kind = CheckpointSpec::Kind::kEverySteps, .every_steps = 1000};
  Start(2, spec);
  SayAt(0, 2, {.action = Directive::Action::kYield, .checkpoint = true, .checkpoint_until = common::SteadySeconds()});
  ExpectOk(RunGeneration());
  EXPECT_THAT(ReportOf(0).flush, StartsWith("no flush"));
  EXPECT_THAT(store_.Names(), IsEmpty());
  // The directive of the next generation states no deadline, so the save has all the time that it needs.
  SayAt(0, 5, {.action = Directive::Action::kYield, .checkpoint = true});
  ranks_[0]->control.Say({.action = Directive::Action::kRun});
  ExpectOk(RunGeneration());
  ASSERT_EQ(store_.Names().size(), 1u);
  EXPECT_EQ(store_.Names().front().step, 7);
}

TEST_F(GenerationRunTest, WhatIsSavedIsToldOnceInEachGeneration) {
  TrainSpec spec = SmallSpec(kSteps);
  spec.exact = false;
  spec.sixteen_bit = true;
  Start(2, spec);
  SayAt(0, 3, {.action = Directive::Action::kYield});
  ExpectOk(RunGeneration());
  EXPECT_EQ(ReportOf(0).levers.at("reduce").step, 1);
  EXPECT_FALSE(ReportOf(1).levers.contains("reduce"));
  ranks_[0]->control.Say({.action = Directive::Action::kRun});
  ranks_[0]->model.before_backward = nullptr;
  ExpectOk(RunGeneration());
  EXPECT_EQ(ReportOf(0).levers.at("reduce").step, 6);
}

TEST_F(GenerationRunTest, WhatAModelLosesCountsAsNobodysTime) {
  constexpr double kLost = 0.05;
  Start(2);
  // What rank 1 loses in each of its micro-batches is no work of its model, as when a process has to be replaced.
  BigramModel& model = ranks_[1]->model;
  model.before_backward = [&](int64_t, int) {
    const double before = common::SteadySeconds();
    std::this_thread::sleep_for(std::chrono::duration<double>(kLost));
    model.lost_seconds = model.lost_seconds + common::SteadySeconds() - before;
  };
  ExpectOk(RunGeneration());
  EXPECT_LT(ReportOf(1).micro_batch_seconds, kLost / 2);
  EXPECT_EQ(ReportOf(1).straggler_cause, "");
  // Rank 0 has waited for rank 1 in each step, for three micro-batches.
  for (size_t i = 0; i < ranks_.size(); ++i) {
    EXPECT_GT(ReportOf(i).step_seconds, 0);
    EXPECT_LT(ReportOf(i).step_seconds, 1.5 * kLost) << "rank " << i;
  }
}

TEST_F(GenerationRunTest, AnInterruptedStepIsComputedAsItsMembershipSays) {
  Start(1);
  SayAt(0, 3, {.action = Directive::Action::kYield});
  ExpectOk(RunGeneration());
  ranks_[0]->control.Say({.action = Directive::Action::kRun});
  std::vector<int> computed;
  ranks_[0]->model.before_backward = [&](int64_t step, int index) {
    if (step == 5) computed.push_back(index);
  };
  Membership membership = NextGeneration();
  membership.interrupted = true;
  membership.members[0].holds = {5, 1, 0};
  membership.members[0].adds = {2, 4, 3};
  auto communicator = std::move(comm::MakeInProcess(1, membership.generation, kPatience).front());
  EXPECT_TRUE(ranks_[0]->Run(membership, *communicator).ok());
  EXPECT_THAT(computed, ElementsAre(0, 1, 2, 3, 4, 5));
  const std::string digest = ReportOf(0).state_digest;
  EXPECT_EQ(digest, UndisturbedDigest());
}

}  // namespace
}  // namespace rekindle::train
