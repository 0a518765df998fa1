// Tests what a step of a sharded state takes of a device's memory, and when.
#include "worker/train/state/prepared_step.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "checkpoint/format/state_shards.h"
#include "worker/device/fake/fake_device.h"
#include "worker/train/testing/fake_control.h"
#include "worker/train/testing/testing_layout.h"

namespace rekindle::train {
namespace {

constexpr int64_t kElements = 8 * checkpoint::kBlockElements;
constexpr int64_t kBytes = kElements * static_cast<int64_t>(sizeof(float));

ShardDeal DealFor(int ranks) {
  ShardDeal deal;
  for (int rank = 0; rank < ranks; ++rank) deal.holders.push_back({rank, (rank + 1) % ranks});
  deal.shards = CutState(kElements, deal.holders);
  return deal;
}

class PreparedStepTest : public ::testing::Test {
 protected:
  absl::Status Fit(int ranks) { return step_.Fit(DealFor(ranks), ranks); }
  // Takes all the memory that the device has left.
  void TakeTheRest() {
    for (int64_t bytes = kBytes; bytes > 0;) {
      auto taken = device_->Allocate(bytes, "another");
      if (taken.ok()) {
        taken_.push_back(*std::move(taken));
      } else {
        bytes /= 2;
      }
    }
  }

  const std::unique_ptr<device::Device> device_ = device::MakeFakeDevice({.memory_bytes = 2 * kBytes});
  const ParameterLayout layout_ = testing::MakeLayout({kElements});
  FakeControl control_;
  Reporter reporter_{control_};
  PreparedStep step_{*device_, layout_, reporter_};
  std::vector<device::Memory> taken_;
};

TEST_F(PreparedStepTest, ShardsThatGrowHaveTheirRoomFromTheStart) {
  ASSERT_TRUE(step_.Reserve().ok());
  ASSERT_TRUE(Fit(4).ok());
  TakeTheRest();
  for (int ranks : {3, 2, 1, 2, 8}) EXPECT_TRUE(Fit(ranks).ok()) << ranks;
}

TEST_F(PreparedStepTest, WithoutThatTheyHaveNoneWhenRanksAreLost) {
  ASSERT_TRUE(Fit(4).ok());
  TakeTheRest();
  EXPECT_TRUE(absl::IsResourceExhausted(Fit(2)));
}

TEST_F(PreparedStepTest, WhereThereIsNoRoomItIsSaidAtTheStart) {
  auto most = device_->Allocate(2 * kBytes - kBytes / 4, "another");
  ASSERT_TRUE(most.ok()) << most.status();
  EXPECT_TRUE(absl::IsResourceExhausted(step_.Reserve()));
}

}  // namespace
}  // namespace rekindle::train
