// Tests steps of a model whose values are known, without an engine. Each rank is a thread.
#include "worker/train/step/step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "worker/comm/testing/in_process.h"
#include "worker/device/exchange/exchange_maker.h"
#include "worker/train/testing/fake_control.h"
#include "worker/train/testing/host_state.h"

namespace rekindle::train {
namespace {

constexpr int kWorld = 2;
constexpr int64_t kElements = 4;
// bfloat16 has 8 significant bits, so it rounds this value to 1.
constexpr float kValue = 1.0f + 1.0f / 1024;

// Has a parameter and a buffer behind it, and delivers `kValue` for all their elements.
class KnownModel final : public Model {
 public:
  explicit KnownModel(bool late_buffers, uint64_t checked_sample = 0) : checked_sample_(checked_sample) {
    layout_.parameters = {{.name = "weight", .shape = {kElements}, .offset = 0, .size = kElements},
                          {.name = "mean", .shape = {kElements}, .offset = kElements, .size = kElements}};
    layout_.parameters[1].momentum = 1;
    layout_.total = 2 * kElements;
    layout_.late_buffers = late_buffers;
  }
  const ParameterLayout& layout() const override { return layout_; }
  void BindWeights(float*) override {}
  absl::Status Initialize(uint64_t, std::span<float>) override { return absl::OkStatus(); }
  absl::StatusOr<LossSum> Backward(const MicroBatch&, const RandomKey&, float, const GradientSink& sink) override {
    const std::vector<float> values(kElements, kValue);
    for (const int parameter : {0, 1}) sink(parameter, values);
    return LossSum{.sum = 1, .count = 1, .checked_sample = checked_sample_};
  }
  absl::StatusOr<LossSum> Evaluate(const MicroBatch&) override { return LossSum{.sum = 1, .count = 1}; }

 private:
  const uint64_t checked_sample_;
  ParameterLayout layout_;
};

class NoData final : public BatchSource {
 public:
  explicit NoData(int64_t checked = -1) : checked_(checked) {}
  int64_t CheckedSample(int64_t) const override { return checked_; }
  MicroBatch Train(int64_t, int index) override { return {.index = index}; }
  MicroBatch Validation(int index) override { return {.index = index}; }
  int validation_micro_batches() const override { return 0; }
  int64_t train_samples() const override { return kWorld; }

 private:
  const int64_t checked_;
};

// What a rank has after a step in which each rank computes one micro-batch.
struct Stepped {
  absl::Status status;
  std::vector<float> sums;
};

// Runs a step of all ranks. Rank n reads the sample that is checked, data[5], with the hash `hashes[n]`.
std::vector<Stepped> Step(bool late_buffers, const std::vector<uint64_t>& hashes = std::vector<uint64_t>(kWorld)) {
  TrainSpec spec;
  spec.global_batch = kWorld;
  spec.micro_batch = 1;
  spec.exact = false;
  spec.sixteen_bit = true;
  auto communicators = comm::MakeInProcess(kWorld, 1, {.progress_seconds = 60});
  std::vector<Stepped> stepped(kWorld);
  const auto run = [&](int rank) {
    KnownModel model(late_buffers, hashes[static_cast<size_t>(rank)]);
    DeviceModel on_device(TestHost(), model);
    NoData batches(/*checked=*/5);
    FakeControl control;
    Reporter reporter(control);
    MetricsBoard metrics;
    StepRunner steps(TestHost(), on_device, batches, spec, reporter, metrics);
    EXPECT_TRUE(steps.Allocate().ok());
    TrainState state = ZeroState(model.layout());
    device::ExchangeMaker exchanges(TestHost(), {});
    const auto exchange = *exchanges.Make(*communicators[static_cast<size_t>(rank)], device::Transport::kHost);
    StepExtras extras;
    extras.range = {rank, rank + 1};
    StepOutcome outcome;
    Stepped& mine = stepped[static_cast<size_t>(rank)];
    mine.status = steps.Run(state, {rank}, extras, *exchange, &outcome);
    if (!mine.status.ok()) return;
    const std::span<float> got = ElementsOf<float>(outcome.gradient->Part(0, 2 * kElements));
    mine.sums.assign(got.begin(), got.end());
  };
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < kWorld; ++rank) threads.emplace_back(run, rank);
  threads.clear();
  return stepped;
}

TEST(StepRunner, BuffersInBucketsOfTheirOwnAreNotRounded) {
  for (const bool late_buffers : {true, false}) {
    for (const auto& [status, sums] : Step(late_buffers)) {
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_EQ(sums.size(), static_cast<size_t>(2 * kElements));
      for (int64_t i = 0; i < kElements; ++i) {
        EXPECT_EQ(sums[static_cast<size_t>(i)], 2.0f) << "gradients travel in 16 bits";
        EXPECT_EQ(sums[static_cast<size_t>(kElements + i)], late_buffers ? 2 * kValue : 2.0f);
      }
    }
  }
}

TEST(StepRunner, RanksThatHaveReadASampleDifferentlyDoNotStep) {
  for (const auto& hashes : {std::vector<uint64_t>{7, 7}, {7, 0}, {0, 0}}) {
    for (const Stepped& rank : Step(true, hashes)) EXPECT_TRUE(rank.status.ok()) << rank.status;
  }
  for (const Stepped& rank : Step(true, {7, 8})) {
    EXPECT_TRUE(absl::IsInvalidArgument(rank.status)) << rank.status;
    EXPECT_THAT(std::string(rank.status.message()), testing::HasSubstr("step 1: data[5] was read twice"));
  }
}

}  // namespace
}  // namespace rekindle::train
