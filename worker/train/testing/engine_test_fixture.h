// Provides what tests of engines as threads share: a coordinator, trainers that come and go, and the result of an
// undisturbed run on one worker to compare with.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_ENGINE_TEST_FIXTURE_H_
#define REKINDLE_WORKER_TRAIN_TESTING_ENGINE_TEST_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "common/log/log.h"
#include "worker/train/testing/local_trainer.h"
#include "worker/train/testing/small_spec.h"

namespace rekindle::train {

inline bool Ended(const v1::JobStatus& status) {
  return status.state() == v1::SUCCEEDED || status.state() == v1::FAILED;
}

// Returns whether the job makes no more steps: it is over, or only its final state is not saved yet.
inline bool HasMadeAllSteps(const v1::JobStatus& status) { return status.state() == v1::FINISHING || Ended(status); }

class EngineTest : public testing::Test {
 protected:
  // A BeforeBackward hook is called before each backward of a trainer, on the trainer's thread. It gets the trainer's
  // number and the step.
  using BeforeBackward = std::function<void(size_t trainer, int64_t step)>;

  static void SetUpTestSuite() {
    setenv("REKINDLE_LOG_LEVEL", "error", 0);
    log::Init("engine_test");
  }
  void TearDown() override { Clear(); }
  void Clear() {
    trainers_.clear();
    coordinator_.reset();
  }

  // Starts a job with `trainers` trainers and returns when all of them step together, or when a short job has made all
  // its steps before this thread looked.
  void Start(const TrainSpec& spec, int trainers, BeforeBackward before_backward = {}) {
    spec_ = spec;
    if (before_backward) before_backward_ = std::move(before_backward);
    // A hook may read `trainers_` while trainers are added, so the vector must not move its elements.
    trainers_.reserve(100);
    coordinator_.emplace(spec_, min_workers_, coordinator_pace_);
    if (has_spare_) coordinator_->AddSpare("spare");
    for (int i = 0; i < trainers; ++i) Add("n" + std::to_string(i));
    ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) {
      return s.members_size() == trainers || HasMadeAllSteps(s);
    })) << coordinator_->Status().DebugString();
  }
  LocalTrainer& Add(const std::string& node) {
    LocalTrainerOptions options = ModelOptions();
    options.largest_gradient = largest_gradient_;
    if (spec_.checkpoint.kind != CheckpointSpec::Kind::kNever) options.checkpoints = &store_;
    options.elsewhere = &elsewhere_;
    if (before_backward_) {
      options.before_backward = [this, index = trainers_.size()](int64_t step, int) { before_backward_(index, step); };
    }
    if (before_read_) {
      options.before_read = [this, index = trainers_.size()](int64_t step) { before_read_(index, step); };
    }
    if (fails_) options.fails = [this, index = trainers_.size()](int64_t step, int) { return fails_(index, step); };
    options.before_initialize = before_initialize_;
    if (lease_clock_) options.lease_clock = [this, index = trainers_.size()] { return lease_clock_(index); };
    options.timeline = timeline_;
    options.make_device = make_device_;
    options.nccl = nccl_;
    if (before_collective_) options.before_collective = [this, index = trainers_.size()] { before_collective_(index); };
    trainers_.push_back(std::make_unique<LocalTrainer>(*coordinator_, spec_, node, ++incarnations_, options));
    return *trainers_.back();
  }
  void AwaitStep(int step) {
    ASSERT_TRUE(coordinator_->Await([&](const v1::JobStatus& s) { return s.step() >= step || Ended(s); }))
        << coordinator_->Status().DebugString();
    ASSERT_GE(coordinator_->Status().step(), step) << coordinator_->Status().DebugString();
  }
  v1::JobStatus AwaitEnd() {
    EXPECT_TRUE(coordinator_->Await(Ended)) << coordinator_->Status().DebugString();
    return coordinator_->Status();
  }
  // Returns the digest of the final state of an undisturbed run on one worker, which holds the whole state and saves no
  // checkpoints.
  std::string UndisturbedDigest() {
    TrainSpec spec = spec_;
    spec.sharded_state = false;
    spec.checkpoint = {};
    LocalCoordinator alone(spec, 1);
    LocalTrainer only(alone, spec, "alone", 1, ModelOptions());
    EXPECT_TRUE(alone.Await(Ended)) << alone.Status().DebugString();
    return alone.Status().state_digest();
  }
  void ExpectUndisturbedResult() {
    const v1::JobStatus status = AwaitEnd();
    EXPECT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
    EXPECT_EQ(status.state_digest(), UndisturbedDigest());
    EXPECT_FALSE(status.state_digest().empty());
  }
  // Runs a job and makes random faults on random trainers, one after the other and never two at once. REKINDLE_SEED
  // repeats a run.
  void ExpectUndisturbedByRandomFaults(const TrainSpec& spec, int trainers) {
    const char* given = std::getenv("REKINDLE_SEED");
    const unsigned seed = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device()();
    SCOPED_TRACE("REKINDLE_SEED=" + std::to_string(seed));
    std::mt19937 random(seed);
    Start(spec, trainers);
    for (int round = 0; round < 8 && !Ended(coordinator_->Status()); ++round) {
      AwaitStep(std::min(spec.steps - 1, coordinator_->Status().step() + 5 + static_cast<int>(random() % 20)));
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

  TrainSpec spec_;
  int64_t ballast_ = 0;
  BeforeBackward before_backward_;
  // `before_read_` is called before each micro-batch of a trainer is read, on its thread.
  std::function<void(size_t trainer, int64_t step)> before_read_;
  // `before_collective_` is called before each collective of a trainer, on its thread.
  std::function<void(size_t trainer)> before_collective_;
  // `make_device_` makes the device of each trainer that is added. It may be null.
  std::function<std::unique_ptr<device::Device>()> make_device_;
  // With `nccl_` the trainers exchange by NCCL.
  device::NcclParts nccl_ = {};
  std::function<BigramModel::Poison(int64_t step, int index)> poison_;
  std::function<bool(int64_t step, int index, int parameter)> is_unused_;
  // `fails_` returns the error of each backward of a trainer, and is called on its thread. `before_initialize_` returns
  // the error of each initialization of a model.
  std::function<absl::Status(size_t trainer, int64_t step)> fails_;
  std::function<absl::Status()> before_initialize_;
  // `lease_clock_` returns the time of a trainer's lease clock. It is called on any thread.
  std::function<double(size_t trainer)> lease_clock_;
  // `timeline_` names the file to which trainers write their timelines. If it is empty, they write none.
  std::string timeline_;
  // If `has_spare_` is set, the cluster also has a node on which no trainer runs.
  bool has_spare_ = false;
  int min_workers_ = 1;
  double coordinator_pace_ = 1;
  float largest_gradient_ = 0;
  int incarnations_ = 0;
  MemoryCheckpoints store_;
  MemoryCheckpoints elsewhere_;
  std::optional<LocalCoordinator> coordinator_;
  std::vector<std::unique_ptr<LocalTrainer>> trainers_;

 private:
  // Returns the trainer options on which the result of a job depends.
  LocalTrainerOptions ModelOptions() const {
    LocalTrainerOptions options;
    options.poison = poison_;
    options.is_unused = is_unused_;
    options.ballast = ballast_;
    return options;
  }
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TESTING_ENGINE_TEST_FIXTURE_H_
