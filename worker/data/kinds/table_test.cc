#include "worker/data/kinds/table.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rekindle::data {
namespace {

const BatchShape kShape{.seed = 1, .global_batch = 8, .micro_batch = 4, .validation_fraction = 0.2};

// Returns a table whose row i has the features i, a constant and 1000 i, and the class i % 3.
Table Small(int rows) {
  Table table{.columns = 3};
  for (int i = 0; i < rows; ++i) {
    for (float value : {1.0f * i, 7.0f, 1000.0f * i}) table.features.push_back(value);
    table.targets.push_back(static_cast<float>(i % 3));
  }
  return table;
}

TEST(TableTest, FeaturesOfTheTrainingRowsHaveMeanZeroAndDeviationOne) {
  auto batches = MakeTableBatches(Small(50), 3, kShape);
  ASSERT_TRUE(batches.ok()) << batches.status();
  double sum[3] = {}, square[3] = {};
  // Five steps of 8 rows are one epoch of the 40 training rows.
  for (int step = 0; step < 5; ++step) {
    for (int index = 0; index < 2; ++index) {
      const train::MicroBatch batch = (*batches)->Train(step, index);
      ASSERT_EQ(batch.sequences, 4);
      EXPECT_EQ(batch.first, 8 * step + 4 * index);
      ASSERT_EQ(batch.features.size(), 12u);
      ASSERT_EQ(batch.targets.size(), 4u);
      for (size_t i = 0; i < batch.features.size(); ++i) {
        sum[i % 3] += batch.features[i];
        square[i % 3] += double{batch.features[i]} * batch.features[i];
      }
    }
  }
  for (int c : {0, 2}) {
    EXPECT_NEAR(sum[c] / 40, 0, 1e-6);
    EXPECT_NEAR(square[c] / 40, 1, 1e-6);
  }
  // A constant column of a table is scaled to 0.
  EXPECT_EQ(square[1], 0);
}

TEST(TableTest, TheTargetOfARegressionIsScaledLikeAFeature) {
  Table table = Small(50);
  for (size_t i = 0; i < table.targets.size(); ++i) table.targets[i] = 300'000.0f + 1000.0f * static_cast<float>(i);
  auto batches = MakeTableBatches(std::move(table), 0, kShape);
  ASSERT_TRUE(batches.ok()) << batches.status();
  double sum = 0, square = 0;
  for (int step = 0; step < 5; ++step) {
    for (int index = 0; index < 2; ++index) {
      for (float target : (*batches)->Train(step, index).targets) {
        sum += target;
        square += double{target} * target;
      }
    }
  }
  EXPECT_NEAR(sum / 40, 0, 1e-6);
  EXPECT_NEAR(square / 40, 1, 1e-6);
}

TEST(TableTest, AMicroBatchIsAFunctionOfStepAndIndex) {
  auto a = MakeTableBatches(Small(50), 3, kShape), b = MakeTableBatches(Small(50), 3, kShape);
  (*b)->Train(3, 1);
  EXPECT_EQ((*a)->Train(2, 1).features, (*b)->Train(2, 1).features);
  EXPECT_NE((*a)->Train(2, 0).features, (*a)->Train(2, 1).features);
  EXPECT_EQ((*a)->validation_micro_batches(), 3);
  EXPECT_EQ((*a)->Validation(2).sequences, 2);
}

TEST(TableTest, ATargetThatIsNoClassIsNamed) {
  for (float wrong : {-1.0f, 3.0f, 0.5f, std::nanf("")}) {
    Table table = Small(50);
    table.targets[17] = wrong;
    const auto batches = MakeTableBatches(table, 3, kShape);
    ASSERT_FALSE(batches.ok()) << wrong;
    EXPECT_NE(batches.status().message().find("row 17"), std::string::npos) << batches.status();
    EXPECT_TRUE(std::isnan(wrong) || MakeTableBatches(table, 0, kShape).ok());
  }
}

TEST(TableTest, TheFingerprintIsOfTheContent) {
  Table table = Small(5);
  const std::string before = TableFingerprint(table);
  EXPECT_EQ(before, TableFingerprint(Small(5)));
  table.targets[2] += 1;
  EXPECT_NE(before, TableFingerprint(table));
}

}  // namespace
}  // namespace rekindle::data
