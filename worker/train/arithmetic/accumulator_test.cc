#include "worker/train/arithmetic/accumulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <random>

#include "absl/synchronization/notification.h"
#include "worker/device/fake/fake_device.h"
#include "worker/train/arithmetic/exact_scale.h"
#include "worker/train/state/optimizer.h"
#include "worker/train/testing/host_state.h"
#include "worker/train/testing/testing_layout.h"

namespace rekindle::train {
namespace {

constexpr int kMicroBatches = 12;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
using Mode = GradientAccumulator::Mode;

// Adds one whole micro-batch as a backward would, with the last parameter first.
void AddMicroBatch(const ParameterLayout& layout, const std::vector<float>& gradient, int index,
                   GradientAccumulator* accumulator) {
  const absl::StatusOr<int> slot = accumulator->Open(index);
  ASSERT_TRUE(slot.ok());
  for (int p = static_cast<int>(layout.parameters.size()) - 1; p >= 0; --p) {
    const ParameterInfo& info = layout.parameters[p];
    accumulator->Add(*slot, p, std::span(gradient).subspan(info.offset, info.size));
  }
  accumulator->Close(*slot, LossSum{.sum = 1000.0 / (index + 3), .count = 512 + index});
  ASSERT_TRUE(accumulator->Take(/*wait=*/true).ok());
}

// Returns an accumulator on the host that has its memory.
std::unique_ptr<GradientAccumulator> MakeAccumulator(const ParameterLayout& layout, GradientAccumulator::Mode mode,
                                                     int micro_batches = kMicroBatches) {
  auto accumulator = std::make_unique<GradientAccumulator>(TestHost(), &layout, mode, micro_batches);
  EXPECT_TRUE(accumulator->Allocate().ok());
  return accumulator;
}

// Returns the sums of a bucket as elements of type T.
template <typename T>
std::span<T> SumsOf(GradientAccumulator& accumulator, const GradientBucket& bucket) {
  return ElementsOf<T>(accumulator.Sums(bucket));
}

// Holds the reduced result of a step. RunStep distributes the micro-batches at random over a random number of ranks, in
// random order, and sums the buckets over the ranks in random order.
struct Step {
  StepRecord record;
  std::vector<int64_t> fixed;
};

Step RunStep(const ParameterLayout& layout, const std::vector<std::vector<float>>& gradients,
             const StateScalars& scalars, std::mt19937* random) {
  const int ranks = 1 + static_cast<int>((*random)() % 7);
  std::vector<std::unique_ptr<GradientAccumulator>> accumulators;
  for (int r = 0; r < ranks; ++r) {
    accumulators.push_back(MakeAccumulator(layout, Mode::kExact));
    accumulators.back()->Begin(scalars.step, scalars.attempt, scalars.exponents);
  }
  std::vector<int> order(kMicroBatches);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), *random);
  for (int index : order) AddMicroBatch(layout, gradients[index], index, accumulators[(*random)() % ranks].get());

  Step step{.record = EmptyRecord(scalars.step, scalars.attempt, layout.parameters.size()),
            .fixed = std::vector<int64_t>(layout.total)};
  std::shuffle(accumulators.begin(), accumulators.end(), *random);
  for (const GradientBucket& bucket : CutIntoBuckets(layout, 1 + (*random)() % 100000)) {
    for (auto& accumulator : accumulators) {
      const std::span<int64_t> local = SumsOf<int64_t>(*accumulator, bucket);
      for (int64_t i = 0; i < bucket.count; ++i) {
        // The sum over ranks may wrap around, as in a communicator, because the gradients of an attempt that overflows
        // are summed before any rank knows of the overflow.
        uint64_t sum = static_cast<uint64_t>(step.fixed[bucket.offset + i]) + static_cast<uint64_t>(local[i]);
        step.fixed[bucket.offset + i] = static_cast<int64_t>(sum);
      }
    }
  }
  for (auto& accumulator : accumulators) EXPECT_TRUE(CombineRecords(accumulator->record(), &step.record).ok());
  EXPECT_TRUE(CheckWhole(step.record, kMicroBatches).ok());
  return step;
}

// Checks that the result of exact reduction depends on the micro-batches, not on which rank computed which.
TEST(ExactReductionTest, GroupingAndOrderDoNotMatter) {
  const ParameterLayout layout = testing::MakeLayout({70001, 3, 128, 1, 4096, 17});
  const OptimizerSpec optimizer;
  std::string expected_digest;
  std::vector<uint8_t> expected_records, records;
  for (uint32_t trial = 0; trial < 12; ++trial) {
    SCOPED_TRACE(trial);
    std::mt19937 random(trial);
    TrainState state = ZeroState(layout);
    records.clear();
    for (int s = 0; s < 4; ++s) {
      std::vector<std::vector<float>> gradients;
      // The gradients of the third step are 2^20 times larger. They exceed the head-room, so the step is redone.
      for (int m = 0; m < kMicroBatches; ++m) {
        gradients.push_back(testing::RandomGradient(layout, s == 2 ? 0x1p20 : 1.0, 1000 * s + m));
      }
      Step step = RunStep(layout, gradients, state.scalars, &random);
      if (!Overflowed(state.scalars.exponents, step.record.maxima, kMicroBatches).empty()) {
        EXPECT_EQ(s, 2);
        state.scalars.exponents = RedoExponents(state.scalars.exponents, step.record.maxima, kMicroBatches);
        ++state.scalars.attempt;
        step = RunStep(layout, gradients, state.scalars, &random);
        EXPECT_TRUE(Overflowed(state.scalars.exponents, step.record.maxima, kMicroBatches).empty());
      }
      EXPECT_EQ(state.scalars.attempt, s == 2 ? 1 : 0);
      const UpdateResult result = *Update(TestHost(), layout, GradientOf(std::span<const int64_t>(step.fixed)),
                                          step.record.tokens, optimizer, 1e-3, 1.0, &state);
      EXPECT_FALSE(result.found_inf);
      state.scalars.exponents = NextExponents(state.scalars.exponents, step.record.maxima, kMicroBatches);
      state.scalars.attempt = 0;
      state.scalars.step += 1;
      state.scalars.cursor += kMicroBatches * 4;
      for (uint8_t byte : EncodeRecord(step.record)) records.push_back(byte);
    }
    for (uint8_t byte : EncodeScalars(state.scalars)) records.push_back(byte);
    if (trial == 0) {
      expected_digest = DigestOf(state);
      expected_records = records;
    }
    ASSERT_EQ(DigestOf(state), expected_digest);
    ASSERT_EQ(records, expected_records);
  }
}

TEST(AccumulatorTest, TheLossScaleLeavesNoTrace) {
  const ParameterLayout layout = testing::MakeLayout({1000, 50, 300});
  const std::vector<float> gradient = testing::RandomGradient(layout, 1.0, 1);
  for (const Mode mode : {Mode::kExact, Mode::kFloat32}) {
    const auto plain = MakeAccumulator(layout, mode), scaled = MakeAccumulator(layout, mode);
    const GradientBucket all = {.count = layout.total, .last_parameter = 2};
    for (int log2 : {-7, 12}) {
      plain->Begin(0, 0, std::vector<int32_t>(3, 30));
      scaled->Begin(0, 0, std::vector<int32_t>(3, 30), log2);
      std::vector<float> times = gradient;
      for (float& g : times) g = std::ldexp(g, log2);
      for (int m : {0, 1}) AddMicroBatch(layout, gradient, m, plain.get());
      for (int m : {0, 1}) AddMicroBatch(layout, times, m, scaled.get());
      const std::span<char> sums = SumsOf<char>(*plain, all);
      EXPECT_EQ(std::memcmp(sums.data(), SumsOf<char>(*scaled, all).data(), sums.size()), 0);
      EXPECT_EQ(plain->record().maxima, scaled->record().maxima);
    }
  }
}

TEST(ExactReductionTest, IsAsPreciseAsDouble) {
  const ParameterLayout layout = testing::MakeLayout({1000, 50, 300});
  const auto made = MakeAccumulator(layout, Mode::kExact);
  GradientAccumulator& accumulator = *made;
  std::vector<float> maxima;
  for (const ParameterInfo& info : layout.parameters) maxima.push_back(info.size == 50 ? 0.5f : 5.0f);
  const std::vector<int32_t> exponents = NextExponents(std::vector<int32_t>(3, 30), maxima, kMicroBatches);
  accumulator.Begin(1, 0, exponents);
  std::vector<double> plain(layout.total);
  for (int m = 0; m < kMicroBatches; ++m) {
    const std::vector<float> gradient = testing::RandomGradient(layout, 1.0, m);
    AddMicroBatch(layout, gradient, m, &accumulator);
    for (int64_t i = 0; i < layout.total; ++i) plain[i] += gradient[i];
  }
  for (const GradientBucket& bucket : CutIntoBuckets(layout, 1)) {
    const std::span<int64_t> fixed = SumsOf<int64_t>(accumulator, bucket);
    for (int64_t i = 0; i < bucket.count; ++i) {
      const double value = std::ldexp(static_cast<double>(fixed[i]), -exponents[bucket.first_parameter]);
      EXPECT_NEAR(value, plain[bucket.offset + i], 1e-13);
    }
  }
}

TEST(AccumulatorTest, Float32SumsInOrder) {
  const ParameterLayout layout = testing::MakeLayout({10, 3});
  const auto made = MakeAccumulator(layout, Mode::kFloat32);
  GradientAccumulator& accumulator = *made;
  // Step 1 uses the accumulator again, and its sums must replace those of step 0.
  for (int step = 0; step < 2; ++step) {
    accumulator.Begin(step, 0, {});
    std::vector<float> plain(layout.total);
    for (int m = 0; m < 3; ++m) {
      const std::vector<float> gradient = testing::RandomGradient(layout, 1.0, 10 * step + m);
      AddMicroBatch(layout, gradient, m, &accumulator);
      for (int64_t i = 0; i < layout.total; ++i) plain[i] = m == 0 ? gradient[i] : plain[i] + gradient[i];
    }
    const std::vector<GradientBucket> buckets = CutIntoBuckets(layout, 1000);
    const std::span<float> sums = SumsOf<float>(accumulator, buckets[0]);
    EXPECT_EQ(std::vector<float>(sums.begin(), sums.end()), plain);
    EXPECT_EQ(accumulator.held(), (std::vector<int>{0, 1, 2}));
  }
}

TEST(AccumulatorTest, WithoutMicroBatchesTheSumsAreZero) {
  const ParameterLayout layout = testing::MakeLayout({10, 3, 5});
  const std::vector<int32_t> exponents(3, 30);
  const std::vector<GradientBucket> buckets = CutIntoBuckets(layout, 5);
  ASSERT_EQ(buckets.size(), 2u);
  for (Mode mode : {Mode::kExact, Mode::kFloat32}) {
    const auto made = MakeAccumulator(layout, mode);
    GradientAccumulator& accumulator = *made;
    accumulator.Begin(0, 0, exponents);
    AddMicroBatch(layout, testing::RandomGradient(layout, 1.0, 1), 0, &accumulator);
    accumulator.Begin(1, 0, exponents);
    EXPECT_TRUE(accumulator.held().empty());
    for (const GradientBucket& bucket : buckets) {
      const std::span<char> sums = SumsOf<char>(accumulator, bucket);
      EXPECT_EQ(std::count(sums.begin(), sums.end(), 0), static_cast<ptrdiff_t>(sums.size()));
    }
    EXPECT_EQ(EncodeRecord(accumulator.record()), EncodeRecord(EmptyRecord(1, 0, 3)));
  }
}

// After a failed reduction the rank keeps the micro-batches that it holds, adds more, and reduces all of them again.
TEST(AccumulatorTest, HeldMicroBatchesSurviveAReductionThatCameToNothing) {
  const ParameterLayout layout = testing::MakeLayout({100, 20});
  const std::vector<int32_t> exponents(2, 30);
  const std::vector<GradientBucket> buckets = CutIntoBuckets(layout, 1000);
  const auto gradient = [&](int m) { return testing::RandomGradient(layout, 1.0, m); };
  const auto sums = [&](GradientAccumulator& a) {
    const std::span<int64_t> data = SumsOf<int64_t>(a, buckets[0]);
    return std::vector<int64_t>(data.begin(), data.end());
  };
  const auto one = MakeAccumulator(layout, Mode::kExact, 3), other = MakeAccumulator(layout, Mode::kExact, 3);
  GradientAccumulator &straight = *one, &interrupted = *other;
  straight.Begin(5, 0, exponents);
  for (int m : {0, 1, 2}) AddMicroBatch(layout, gradient(m), m, &straight);
  interrupted.Begin(5, 0, exponents);
  // The accumulator `interrupted` is reduced once while it holds no micro-batch yet, so its sums are zeros.
  EXPECT_EQ(sums(interrupted), std::vector<int64_t>(layout.total));
  AddMicroBatch(layout, gradient(2), 2, &interrupted);
  sums(interrupted);
  for (int m : {0, 1}) AddMicroBatch(layout, gradient(m), m, &interrupted);
  EXPECT_EQ(sums(interrupted), sums(straight));
  EXPECT_EQ(EncodeRecord(interrupted.record()), EncodeRecord(straight.record()));
}

TEST(AccumulatorTest, NanAndInfinityReachTheRecordFromAnyMicroBatch) {
  const ParameterLayout layout = testing::MakeLayout({100, 20, 7});
  for (Mode mode : {Mode::kExact, Mode::kFloat32}) {
    for (float bad : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
      const auto made = MakeAccumulator(layout, mode);
      GradientAccumulator& accumulator = *made;
      accumulator.Begin(0, 0, std::vector<int32_t>(3, 30));
      for (int m = 0; m < 4; ++m) {
        std::vector<float> gradient = testing::RandomGradient(layout, 1.0, m);
        if (m == 1) gradient[105] = bad;
        AddMicroBatch(layout, gradient, m, &accumulator);
      }
      EXPECT_TRUE(accumulator.record().NotFinite());
      EXPECT_EQ(accumulator.record().bad_micro_batch, 1);
      EXPECT_EQ(accumulator.record().bad_parameter, 1);
    }
  }
}

TEST(AccumulatorTest, WhatGetsNoGradientAddsNothingAndIsTold) {
  const ParameterLayout layout = testing::MakeLayout({4, 4, 4});
  const auto accumulator = MakeAccumulator(layout, Mode::kFloat32, 2);
  accumulator->Begin(0, 0, {});
  // The first micro-batch has a gradient of parameters 0 and 1, and the second one of parameter 1.
  for (int index : {0, 1}) {
    const absl::StatusOr<int> slot = accumulator->Open(index);
    ASSERT_TRUE(slot.ok());
    for (int p = 1; p >= index; --p) accumulator->Add(*slot, p, std::vector<float>(4, static_cast<float>(index + 1)));
    accumulator->Close(*slot, LossSum{.sum = 1, .count = 1});
    ASSERT_TRUE(accumulator->Take(/*wait=*/true).ok());
  }
  EXPECT_EQ(accumulator->record().has_gradient, (std::vector<uint8_t>{1, 1, 0}));
  const std::span<float> sums = SumsOf<float>(*accumulator, {.offset = 0, .count = 12, .last_parameter = 2});
  EXPECT_EQ(std::vector<float>(sums.begin(), sums.end()), (std::vector<float>{1, 1, 1, 1, 3, 3, 3, 3, 0, 0, 0, 0}));
}

TEST(AccumulatorTest, RefusesBackwardsThatAreNotWhole) {
  ParameterLayout layout = testing::MakeLayout({4, 4});
  const std::vector<float> gradient(4, 1.0f);
  const auto accumulator = MakeAccumulator(layout, Mode::kFloat32, 3);
  // Plays a backward that delivers the gradients of these parameters.
  const auto backward = [&](int index, const std::vector<int>& parameters, const absl::StatusOr<LossSum>& loss) {
    const absl::StatusOr<int> slot = accumulator->Open(index);
    EXPECT_TRUE(slot.ok());
    for (int p : parameters) accumulator->Add(*slot, p, gradient);
    accumulator->Close(*slot, loss);
    return accumulator->Take(/*wait=*/true);
  };
  const LossSum loss{.sum = 1, .count = 1};

  accumulator->Begin(0, 0, {});
  const absl::Status twice = backward(0, {1, 1, 0}, loss);
  EXPECT_EQ(twice.code(), absl::StatusCode::kInternal);
  EXPECT_NE(twice.message().find("p1"), absl::string_view::npos);

  layout.parameters[1].momentum = 0.1;
  accumulator->Begin(0, 0, {});
  EXPECT_FALSE(backward(0, {0}, loss).ok()) << "a buffer always has a statistic";

  accumulator->Begin(0, 0, {});
  EXPECT_EQ(backward(0, {1, 0}, absl::InternalError("no loss")), absl::InternalError("no loss"));

  for (int wrong : {0, -1, 3}) {
    accumulator->Begin(0, 0, {});
    ASSERT_TRUE(backward(0, {1, 0}, loss).ok());
    EXPECT_EQ(backward(wrong, {1, 0}, loss).code(), absl::StatusCode::kInternal) << wrong;
  }
}

TEST(AccumulatorTest, ALossThatTheDeviceComputesCountsAsOneThatIsKnown) {
  const ParameterLayout layout = testing::MakeLayout({4, 4});
  const std::vector<float> gradient(4, 1.0f);
  const auto knows = MakeAccumulator(layout, Mode::kExact, 9), leaves = MakeAccumulator(layout, Mode::kExact, 9);
  const std::vector<int32_t> exponents = {20, 20};
  float left = 0;
  for (const auto& accumulator : {knows.get(), leaves.get()}) {
    accumulator->Begin(0, 0, exponents);
    for (int index = 0; index < 9; ++index) {
      const float loss = index == 7 ? INFINITY : 0.5f + static_cast<float>(index);
      const absl::StatusOr<int> slot = accumulator->Open(index);
      ASSERT_TRUE(slot.ok());
      for (int p : {1, 0}) accumulator->Add(*slot, p, gradient);
      left = loss;
      accumulator->Close(*slot, accumulator == knows.get() ? LossSum{.sum = loss, .count = 3}
                                                           : LossSum{.count = 3, .on_device = &left});
      left = -1;
      accumulator->Queued(*slot);
    }
    ASSERT_TRUE(accumulator->Take(/*wait=*/true).ok());
  }
  EXPECT_EQ(EncodeRecord(leaves->record()), EncodeRecord(knows->record()));
  EXPECT_TRUE(leaves->record().loss_not_finite);
  EXPECT_EQ(leaves->record().bad_micro_batch, 7);
  EXPECT_EQ(leaves->record().bad_parameter, -1);
  EXPECT_EQ(leaves->record().tokens, 27);
}

TEST(AccumulatorTest, AFailedMicroBatchIsToldWhileTheNextOneStillRuns) {
  const std::unique_ptr<device::FakeDevice> device = device::MakeFakeDevice({});
  const ParameterLayout layout = testing::MakeLayout({4});
  GradientAccumulator accumulator(*device, &layout, Mode::kFloat32, 2);
  ASSERT_TRUE(accumulator.Allocate().ok());
  accumulator.Begin(0, 0, {});
  const absl::StatusOr<int> failed = accumulator.Open(0);
  ASSERT_TRUE(failed.ok());
  accumulator.Close(*failed, absl::InternalError("no loss"));
  accumulator.Queued(*failed);
  ASSERT_TRUE(device->Await(device->Record(device::Queue::kCompute), nullptr).ok());

  const absl::StatusOr<int> runs = accumulator.Open(1);
  ASSERT_TRUE(runs.ok());
  absl::Notification ends;
  device->Run(device::Queue::kCompute, {.name = "backward",
                                        .reads = {},
                                        .writes = {},
                                        .run =
                                            [&](const auto&) {
                                              ends.WaitForNotification();
                                              return absl::OkStatus();
                                            },
                                        .awaits_others = true});
  accumulator.Queued(*runs);
  EXPECT_EQ(accumulator.Take(/*wait=*/false), absl::InternalError("no loss"));
  accumulator.Close(*runs, absl::CancelledError("the step has failed"));
  ends.Notify();
  EXPECT_EQ(accumulator.Take(/*wait=*/true), absl::CancelledError("the step has failed"));
}

}  // namespace
}  // namespace rekindle::train
