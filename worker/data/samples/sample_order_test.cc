#include "worker/data/samples/sample_order.h"

#include <gtest/gtest.h>

#include <set>

namespace rekindle::data {
namespace {

const BatchShape kShape{.seed = 5, .global_batch = 6, .micro_batch = 2, .validation_fraction = 0.1};

TEST(SampleOrderTest, AnEpochHasEveryTrainingSampleOnceAndNoneOfValidation) {
  const auto order = SampleOrder::Create(100, kShape);
  ASSERT_TRUE(order.ok()) << order.status();
  EXPECT_EQ(order->train_samples(), 90);
  std::multiset<int64_t> train, validation;
  for (int64_t step = 0; step < 15; ++step) {
    for (int index = 0; index < 3; ++index)
      train.merge([&] {
        const auto batch = order->Train(step, index);
        return std::multiset<int64_t>(batch.begin(), batch.end());
      }());
  }
  for (int i = 0; i < order->validation_micro_batches(); ++i) {
    for (int64_t sample : order->Validation(i)) validation.insert(sample);
  }
  EXPECT_EQ(train.size(), 90u);
  EXPECT_EQ(validation.size(), 10u);
  train.merge(validation);
  int64_t expected = 0;
  for (int64_t sample : train) EXPECT_EQ(sample, expected++);
}

TEST(SampleOrderTest, TheSeedChangesTheOrderButNotTheSplit) {
  BatchShape other = kShape;
  other.seed = 6;
  const auto a = SampleOrder::Create(100, kShape), b = SampleOrder::Create(100, other);
  EXPECT_NE(a->Train(0, 0), b->Train(0, 0));
  EXPECT_EQ(a->Validation(0), b->Validation(0));
  EXPECT_EQ(a->Train(7, 1), SampleOrder::Create(100, kShape)->Train(7, 1));
  EXPECT_EQ(a->FirstNumber(7, 1), 44);
}

TEST(SampleOrderTest, RefusesWhatCannotBeCut) {
  EXPECT_TRUE(SampleOrder::Create(2, kShape).ok());
  EXPECT_FALSE(SampleOrder::Create(1, kShape).ok());
  BatchShape odd = kShape;
  odd.global_batch = 5;
  EXPECT_FALSE(SampleOrder::Create(100, odd).ok());
  odd = kShape;
  odd.validation_fraction = 0.95;
  EXPECT_FALSE(SampleOrder::Create(100, odd).ok());
}

}  // namespace
}  // namespace rekindle::data
