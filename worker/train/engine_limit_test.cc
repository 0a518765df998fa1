// As many ranks as there can be, as threads, over the real transport; and one trainer more.
#include <gtest/gtest.h>

#include "worker/train/testing/engine_test_fixture.h"

namespace rekindle::train {
namespace {

constexpr int kMost = 64;
constexpr int kStorm = 20;  // Generations that no schedule of these tests needs.

class EngineLimitTest : public EngineTest {
 protected:
  // One micro-batch a trainer, and one more.
  void StartAll(int steps, int trainers) {
    spec_ = SmallSpec(steps);
    spec_.global_batch = kMost + 1;
    spec_.micro_batch = 1;
    spec_.evaluate_every = 0;
    trainers_.reserve(kMost + 1);
    coordinator_.emplace(spec_, kMost);
    for (int i = 0; i < trainers; ++i) Add("n" + std::to_string(i));
  }
  // What the coordinator says once `step` is completed, or when it forms one generation after the other.
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
