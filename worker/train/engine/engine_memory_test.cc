// Tests that a job goes on with smaller micro-batches when memory runs out in a step. The trainer processes stay the
// same, and no step is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <memory>
#include <new>
#include <vector>

#include "common/log/log.h"
#include "worker/train/engine/engine.h"
#include "worker/train/testing/local_trainer.h"

namespace rekindle::train {
namespace {

// `kThrowAt` steps are done before the memory runs out.
constexpr int kThrowAt = 7;

TrainSpec Spec(bool exact) {
  TrainSpec spec;
  spec.seed = 5;
  spec.steps = 20;
  spec.global_batch = 24;
  spec.micro_batch = 6;
  spec.context = 12;
  spec.exact = exact;
  spec.clip_norm = 1;
  spec.optimizer.learning_rate = 0.05;
  return spec;
}

bool Ended(const v1::JobStatus& status) { return status.state() == v1::SUCCEEDED || status.state() == v1::FAILED; }

// Trains with one trainer for each element of `throws`. Each trainer whose element is true runs out of memory once, all
// in the same step.
v1::JobStatus Train(bool exact, int at, const std::vector<bool>& throws) {
  setenv("REKINDLE_LOG_LEVEL", "error", 0);
  log::Init("engine_memory_test");
  LocalCoordinator coordinator(Spec(exact), 2);
  std::vector<std::atomic<bool>> thrown(throws.size());
  // The trainers that will run out of memory wait here for each other, so that each of them throws before it hears that
  // another one ran out of memory.
  std::latch all_there(std::count(throws.begin(), throws.end(), true));
  std::vector<std::unique_ptr<LocalTrainer>> trainers;
  for (size_t i = 0; i < throws.size(); ++i) {
    LocalTrainerOptions options;
    options.before_backward = [&, i](int64_t step, int) {
      if (!throws[i] || step != at || thrown[i].exchange(true)) return;
      all_there.arrive_and_wait();
      throw std::bad_alloc();
    };
    trainers.push_back(std::make_unique<LocalTrainer>(coordinator, Spec(exact), "n" + std::to_string(i), 1, options));
  }
  EXPECT_TRUE(coordinator.Await(Ended)) << coordinator.Status().DebugString();
  return coordinator.Status();
}

std::string LeverText(const v1::JobStatus& status) {
  for (const v1::LeverStatus& lever : status.levers()) {
    if (lever.lever() == "micro_batch") return lever.text();
  }
  return "";
}

TEST(EngineMemoryTest, OneRankThatRunsOutOfMemoryMakesTheMicroBatchSmallerForAll) {
  const v1::JobStatus status = Train(/*exact=*/false, kThrowAt, {false, true});
  ASSERT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
  EXPECT_EQ(status.step(), 20);
  EXPECT_EQ(status.resolved_spec().training().micro_batch(), 3);
  EXPECT_EQ(status.resolved_spec().training().global_batch(), 24);
  EXPECT_EQ(status.steps_redone(), 0);
  // The number of the generation would be higher if a trainer had died or joined.
  EXPECT_EQ(status.generation(), 2);
  EXPECT_EQ(LeverText(status).substr(0, 30), "micro_batch goes from 6 to 3 a") << status.DebugString();
}

TEST(EngineMemoryTest, AllRanksAtOnceHalveItOnce) {
  const v1::JobStatus status = Train(/*exact=*/false, kThrowAt, {true, true});
  ASSERT_EQ(status.state(), v1::SUCCEEDED) << status.reason();
  EXPECT_EQ(status.resolved_spec().training().micro_batch(), 3);
  EXPECT_EQ(status.steps_redone(), 0);
}

TEST(EngineMemoryTest, AnExactJobIsRefusedTheChangeAndSaysWhatToDo) {
  const v1::JobStatus status = Train(/*exact=*/true, kThrowAt, {false, true});
  ASSERT_EQ(status.state(), v1::FAILED);
  EXPECT_NE(status.reason().find("submit the job again with training.micro_batch 3 or auto"), std::string::npos)
      << status.reason();
  EXPECT_EQ(status.resolved_spec().training().micro_batch(), 6);
}

}  // namespace
}  // namespace rekindle::train
