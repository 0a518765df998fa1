#include "worker/train/step/device_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "worker/train/testing/host_state.h"
#include "worker/train/testing/testing_layout.h"

namespace rekindle::train {
namespace {

// Does in its Initialize() what a test says, and computes nothing.
class InitializedModel final : public Model {
 public:
  const ParameterLayout& layout() const override { return layout_; }
  void BindWeights(float*) override {}
  absl::Status Initialize(uint64_t, std::span<float> weights) override {
    std::fill(weights.begin(), weights.end(), 1.0f);
    return initialize ? initialize() : absl::OkStatus();
  }
  absl::StatusOr<LossSum> Backward(const MicroBatch&, const RandomKey&, float, const GradientSink&) override {
    return absl::UnimplementedError("it computes nothing");
  }
  absl::StatusOr<LossSum> Evaluate(const MicroBatch&) override {
    return absl::UnimplementedError("it computes nothing");
  }

  std::function<absl::Status()> initialize;

 private:
  const ParameterLayout layout_ = testing::MakeLayout({4});
};

class DeviceModelTest : public ::testing::Test {
 protected:
  absl::Status Initialize() {
    const auto load = [this](std::span<float> weights) {
      is_loaded_ = true;
      std::fill(weights.begin(), weights.end(), 2.0f);
      return absl::OkStatus();
    };
    return DeviceModel(TestHost(), model_).Initialize(1, load, state_.weights);
  }

  InitializedModel model_;
  TrainState state_ = ZeroState(model_.layout());
  bool is_loaded_ = false;
};

TEST_F(DeviceModelTest, LoadedWeightsReplaceTheInitialOnes) {
  ASSERT_TRUE(Initialize().ok());
  EXPECT_TRUE(is_loaded_);
  EXPECT_EQ(FloatsOf(state_.weights)[0], 2.0f);
}

TEST_F(DeviceModelTest, TheErrorOfAnInitializationIsReturned) {
  model_.initialize = [] { return absl::InvalidArgumentError("the task raised an exception"); };
  EXPECT_EQ(Initialize(), absl::InvalidArgumentError("the task raised an exception"));
  EXPECT_FALSE(is_loaded_);
}

TEST_F(DeviceModelTest, WhatAnInitializationThrowsBecomesAnError) {
  model_.initialize = []() -> absl::Status { throw std::runtime_error("no room in the pool"); };
  EXPECT_EQ(Initialize(), absl::InternalError("no room in the pool"));
  model_.initialize = []() -> absl::Status { throw std::bad_alloc(); };
  EXPECT_TRUE(absl::IsResourceExhausted(Initialize()));
}

}  // namespace
}  // namespace rekindle::train
