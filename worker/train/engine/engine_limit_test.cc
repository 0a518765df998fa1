// Runs jobs with as many trainers as a job may have ranks, and with one trainer more than that. The trainers are
// threads over the real transport.
#include <gtest/gtest.h>

#include "worker/train/testing/engine_test_fixture.h"

namespace rekindle::train {
namespace {

constexpr int kMost = 64;
// A test that sees `kStorm` generations fails, because the coordinator then forms one generation after the other
// without end.
constexpr int kStorm = 20;

class EngineLimitTest : public EngineTest {
 protected:
  // Starts a job that has one micro-batch more than it may have ranks, so that every rank gets at least one.
  void StartAll(int steps, int trainers) {
    spec_ = SmallSpec(steps);
    spec_.global_batch = kMost + 1;
    spec_.micro_batch = 1;
    spec_.evaluate_every = 0;
    trainers_.reserve(kMost + 1);
    coordinator_.emplace(spec_, kMost);
    for (int i = 0; i < trainers; ++i) Add("n" + std::to_string(i));
  }
  // Waits until `step` is completed, the job has ended, or the coordinator forms one generation after the other.
  // Returns the job's status then.
  v1::JobStatus At(int step) {
    EXPECT_TRUE(coordinator_->Await(
        [&](const v1::JobStatus& s) { return s.step() >= step || s.generation() >= kStorm || Ended(s); }));
    return coordinator_->Status();
  }
};

TEST_F(EngineLimitTest, OneTrainerMoreThanRanksWaitsAndTheOthersTrain) {
  StartAll(3, kMost + 1);
  const v1::JobStatus status = At(1);
  ASSERT_GE(status.step(), 1) << "generation " << status.generation() << " of " << status.members_size();
  ASSERT_LT(status.generation(), kStorm);
  ExpectUndisturbedResult();
}

TEST_F(EngineLimitTest, OneTrainerMoreDoesNotStopAJobThatTrains) {
  StartAll(6, kMost);
  const v1::JobStatus before = At(1);
  ASSERT_EQ(before.members_size(), kMost);
  Add("late");
  const v1::JobStatus after = At(before.step() + 3);
  ASSERT_LT(after.generation(), kStorm) << "step " << after.step() << " of " << after.members_size();
  ExpectUndisturbedResult();
  EXPECT_EQ(coordinator_->Status().generation(), before.generation());
}

}  // namespace
}  // namespace rekindle::train
