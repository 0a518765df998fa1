#include "worker/train/arithmetic/step_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "worker/train/arithmetic/exact_scale.h"

namespace rekindle::train {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

StepRecord OfMicroBatch(int index, int micro_batches) {
  StepRecord record = EmptyRecord(7, 1, 3);
  AddLoss(index, {.sum = 1000.1 + 0.37 * index, .count = 512 + index}, micro_batches, &record);
  record.maxima = {0.5f * static_cast<float>(index), 2.0f, 0};
  record.has_gradient = {1, static_cast<uint8_t>(index % 5 == 3), 0};
  return record;
}

TEST(StepRecordTest, OrderAndGroupingDoNotMatter) {
  constexpr int kMicroBatches = 23;
  std::vector<int> order(kMicroBatches);
  std::iota(order.begin(), order.end(), 0);
  std::vector<uint8_t> expected;
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::shuffle(order.begin(), order.end(), random);
    StepRecord total = EmptyRecord(7, 1, 3);
    for (int at = 0; at < kMicroBatches;) {
      StepRecord rank = EmptyRecord(7, 1, 3);
      for (int end = std::min(kMicroBatches, at + static_cast<int>(random() % 9)); at < end; ++at) {
        ASSERT_TRUE(CombineRecords(OfMicroBatch(order[at], kMicroBatches), &rank).ok());
      }
      StepRecord travelled;
      ASSERT_TRUE(DecodeRecord(EncodeRecord(rank), 3, &travelled).ok());
      ASSERT_TRUE(CombineRecords(travelled, &total).ok());
    }
    ASSERT_TRUE(CheckWhole(total, kMicroBatches).ok());
    if (expected.empty()) expected = EncodeRecord(total);
    ASSERT_EQ(EncodeRecord(total), expected) << "trial " << trial;
    ASSERT_EQ(total.has_gradient, (std::vector<uint8_t>{1, 1, 0}));
  }
}

TEST(StepRecordTest, EachParameterHasABitOfItsOwn) {
  for (size_t parameters : {1, 7, 8, 9, 64, 65}) {
    for (size_t p = 0; p < parameters; ++p) {
      StepRecord record = EmptyRecord(7, 1, parameters), travelled;
      record.has_gradient[p] = 1;
      ASSERT_TRUE(DecodeRecord(EncodeRecord(record), parameters, &travelled).ok());
      ASSERT_EQ(travelled.has_gradient, record.has_gradient) << parameters << ", " << p;
    }
  }
}

TEST(StepRecordTest, HashesOfTheCheckedSampleAreComparedWhereThereAreSome) {
  const auto of = [](std::vector<uint64_t> hashes) {
    StepRecord total = EmptyRecord(7, 1, 3);
    for (int index = 0; index < static_cast<int>(hashes.size()); ++index) {
      StepRecord one = EmptyRecord(7, 1, 3), travelled;
      AddLoss(index, {.sum = 1, .count = 1, .checked_sample = hashes[static_cast<size_t>(index)]}, 4, &one);
      EXPECT_TRUE(DecodeRecord(EncodeRecord(one), 3, &travelled).ok());
      EXPECT_TRUE(CombineRecords(travelled, &total).ok());
    }
    return total.least_checked >= total.most_checked;
  };
  constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();
  EXPECT_TRUE(of({0, 0}));
  EXPECT_TRUE(of({0, 5, 0}));
  EXPECT_TRUE(of({5, 0, 5}));
  EXPECT_TRUE(of({kLargest, kLargest}));
  EXPECT_FALSE(of({5, 0, 6}));
  EXPECT_FALSE(of({kLargest, 1}));
}

TEST(StepRecordTest, MeanLoss) {
  StepRecord record = EmptyRecord(0, 0, 0);
  EXPECT_EQ(record.MeanLoss(), 0);
  AddLoss(0, {.sum = 1024.5, .count = 512}, 2, &record);
  AddLoss(1, {.sum = 1023.5, .count = 512}, 2, &record);
  EXPECT_EQ(record.MeanLoss(), 2.0);
}

TEST(StepRecordTest, CatchesMicroBatchesThatAreDoubledOrMissing) {
  const auto of = [](std::vector<int> indices) {
    StepRecord total = EmptyRecord(7, 1, 3);
    for (int index : indices) EXPECT_TRUE(CombineRecords(OfMicroBatch(index, 4), &total).ok());
    return total;
  };
  EXPECT_TRUE(CheckWhole(of({2, 0, 3, 1}), 4).ok());
  EXPECT_EQ(CheckWhole(of({0, 1, 2}), 4).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(CheckWhole(of({0, 1, 2, 2}), 4).code(), absl::StatusCode::kInternal);
  // A record of the micro-batches 0, 0, 3, 3 is refused, although their indices have the same sum as the right ones, 0,
  // 1, 2, 3.
  EXPECT_EQ(CheckWhole(of({0, 0, 3, 3}), 4).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(CheckWhole(of({}), 4).code(), absl::StatusCode::kInternal);
}

TEST(StepRecordTest, CountsThatSumTo0AreTheJobsFault) {
  StepRecord total = EmptyRecord(7, 1, 3);
  for (int index = 0; index < 2; ++index) AddLoss(index, {.sum = 0, .count = 0}, 3, &total);
  EXPECT_EQ(CheckWhole(total, 3).code(), absl::StatusCode::kInternal) << "a micro-batch is missing";
  AddLoss(2, {.sum = 0, .count = 0}, 3, &total);
  const absl::Status refused = CheckWhole(total, 3);
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(refused.message()).find("the count 0"), std::string::npos) << refused;
  // Counts of 0 do no harm where some other count is above 0.
  total.tokens = 1;
  EXPECT_TRUE(CheckWhole(total, 3).ok());
  // No honest ranks have a negative sum.
  total.tokens = -1;
  EXPECT_EQ(CheckWhole(total, 3).code(), absl::StatusCode::kInternal);
}

TEST(StepRecordTest, FlagsWhatIsNotFinite) {
  EXPECT_FALSE(OfMicroBatch(1, 4).NotFinite());
  StepRecord gradient = OfMicroBatch(1, 4);
  gradient.maxima[2] = kInfinity;
  EXPECT_TRUE(gradient.NotFinite());
  const double most = std::ldexp(1.0, LimitLog2(4) - 20);
  for (double sum : {std::nan(""), double{kInfinity}, -double{kInfinity}, most * 1.001, -most * 1.001}) {
    StepRecord loss = EmptyRecord(7, 1, 3);
    AddLoss(0, {.sum = sum, .count = 1}, 4, &loss);
    EXPECT_TRUE(loss.NotFinite()) << sum;
    StepRecord total = OfMicroBatch(1, 4);
    ASSERT_TRUE(CombineRecords(loss, &total).ok());
    EXPECT_TRUE(total.NotFinite());
  }
}

TEST(StepRecordTest, NamesTheFirstThatIsNotFiniteInWhateverOrder) {
  StepRecord a = EmptyRecord(7, 1, 3), b = EmptyRecord(7, 1, 3);
  AddNotFinite(6, 2, &a);
  AddNotFinite(5, 2, &a);
  AddNotFinite(9, 0, &a);
  AddNotFinite(5, 1, &b);
  for (const auto& [first, second] : {std::pair{a, b}, std::pair{b, a}}) {
    StepRecord total = EmptyRecord(7, 1, 3), decoded;
    ASSERT_TRUE(CombineRecords(first, &total).ok());
    ASSERT_TRUE(CombineRecords(second, &total).ok());
    ASSERT_TRUE(DecodeRecord(EncodeRecord(total), 3, &decoded).ok());
    EXPECT_EQ(decoded.bad_micro_batch, 5);
    EXPECT_EQ(decoded.bad_parameter, 1);
  }
  // If a loss and a gradient of one micro-batch are not finite, the record names the loss (-1).
  AddNotFinite(5, -1, &a);
  EXPECT_EQ(a.bad_parameter, -1);
  EXPECT_EQ(EmptyRecord(7, 1, 3).bad_micro_batch, kNoMicroBatch);
}

TEST(StepRecordTest, LargestLossesDoNotWrap) {
  StepRecord record = EmptyRecord(0, 0, 0);
  const double most = std::ldexp(1.0, LimitLog2(4) - 20);
  for (int i = 0; i < 4; ++i) AddLoss(i, {.sum = most, .count = 1}, 4, &record);
  EXPECT_FALSE(record.NotFinite());
  EXPECT_EQ(record.MeanLoss(), most);
}

TEST(StepRecordTest, RefusesRanksOfAnotherStep) {
  StepRecord total = OfMicroBatch(0, 4);
  const std::vector<uint8_t> before = EncodeRecord(total);
  StepRecord other = OfMicroBatch(1, 4);
  other.step = 8;
  EXPECT_EQ(CombineRecords(other, &total).code(), absl::StatusCode::kFailedPrecondition);
  other = OfMicroBatch(1, 4);
  other.attempt = 0;
  EXPECT_FALSE(CombineRecords(other, &total).ok());
  other = OfMicroBatch(1, 4);
  other.maxima.pop_back();
  EXPECT_FALSE(CombineRecords(other, &total).ok());
  EXPECT_EQ(EncodeRecord(total), before);
}

TEST(StepRecordTest, RefusesMalformedBytes) {
  const std::vector<uint8_t> good = EncodeRecord(OfMicroBatch(1, 4));
  ASSERT_EQ(good.size(), RecordBytes(3));
  StepRecord out;
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(DecodeRecord(std::span(good).first(n), 3, &out).ok());
  EXPECT_FALSE(DecodeRecord(good, 4, &out).ok());
  std::vector<uint8_t> bad = good;
  bad[0] ^= 1;
  EXPECT_FALSE(DecodeRecord(bad, 3, &out).ok());
  // An encoded record ends with the last maximum, a float32, and a byte with the bits of its parameters. A top byte of
  // 0x80 makes this maximum negative, and 0xff makes it NaN. Both must be refused.
  for (uint8_t top : {0x80, 0xff}) {
    bad = good;
    bad[bad.size() - 2] = top;
    bad[bad.size() - 3] = 0xff;
    EXPECT_FALSE(DecodeRecord(bad, 3, &out).ok());
  }
}

}  // namespace
}  // namespace rekindle::train
