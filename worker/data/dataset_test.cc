#include "worker/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace rekindle::data {
namespace {

using ::testing::HasSubstr;

// Every window of these tokens is different.
std::vector<uint8_t> Tokens(size_t size) {
  std::vector<uint8_t> tokens(size);
  for (size_t i = 0; i < size; ++i) tokens[i] = static_cast<uint8_t>((i * 2654435761u) >> 13);
  return tokens;
}

const DatasetOptions kOptions = {
    .seed = 3, .context = 8, .global_batch = 12, .micro_batch = 4, .validation_fraction = 0.2};

Dataset Make(std::span<const uint8_t> tokens, const DatasetOptions& options = kOptions) {
  auto dataset = Dataset::Create(tokens, "content", options);
  EXPECT_TRUE(dataset.ok()) << dataset.status();
  return *dataset;
}

std::vector<uint16_t> Row(const train::MicroBatch& batch, int row) {
  size_t window = batch.context + 1;
  return {batch.tokens.begin() + row * window, batch.tokens.begin() + (row + 1) * window};
}

TEST(DatasetTest, ShapesAndSplit) {
  auto tokens = Tokens(1000);
  Dataset dataset = Make(tokens);
  EXPECT_EQ(dataset.train_samples(), 99);       // (800 - 1) / 8
  EXPECT_EQ(dataset.validation_samples(), 24);  // (200 - 1) / 8
  train::MicroBatch batch = dataset.TrainMicroBatch(0, 2);
  EXPECT_EQ(batch.index, 2);
  EXPECT_EQ(batch.sequences, 4);
  EXPECT_EQ(batch.context, 8);
  EXPECT_EQ(batch.tokens.size(), 4u * 9);
}

// An epoch holds every training window once, across the borders of steps.
TEST(DatasetTest, AnEpochSeesEverySampleOnce) {
  auto tokens = Tokens(1000);
  Dataset dataset = Make(tokens);
  std::set<std::vector<uint16_t>> windows;
  for (int i = 0; i < 99; ++i) windows.insert({tokens.begin() + i * 8, tokens.begin() + i * 8 + 9});
  ASSERT_EQ(windows.size(), 99u);
  std::map<std::vector<uint16_t>, int> seen;
  for (int n = 0; n < 99 * 4; n += 4) {  // Four epochs.
    train::MicroBatch batch = dataset.TrainMicroBatch(n / 12, n % 12 / 4);
    for (int row = 0; row < 4; ++row) ++seen[Row(batch, row)];
  }
  EXPECT_EQ(seen.size(), 99u);
  for (const auto& [window, count] : seen) {
    EXPECT_TRUE(windows.contains(window));
    EXPECT_EQ(count, 4);
  }
}

TEST(DatasetTest, OrderDependsOnSampleNumberOnly) {
  auto tokens = Tokens(1000);
  DatasetOptions other = kOptions;
  other.global_batch = 6;
  other.micro_batch = 2;
  Dataset a = Make(tokens), b = Make(tokens, other);
  EXPECT_EQ(Row(a.TrainMicroBatch(5, 1), 3), Row(b.TrainMicroBatch(11, 0), 1));  // Sample 67.
  EXPECT_EQ(a.TrainMicroBatch(7, 1).tokens, a.TrainMicroBatch(7, 1).tokens);
  other = kOptions;
  other.seed = 4;
  EXPECT_NE(a.TrainMicroBatch(0, 0).tokens, Make(tokens, other).TrainMicroBatch(0, 0).tokens);
  EXPECT_NE(a.TrainMicroBatch(0, 0).tokens, a.TrainMicroBatch(33, 0).tokens);  // Sample 0 of the fifth epoch.
}

TEST(DatasetTest, ValidationIsFixedAndComplete) {
  auto tokens = Tokens(1010);  // 202 for validation: 25 windows, so that the last micro-batch has one.
  DatasetOptions other = kOptions;
  other.seed = 4;
  Dataset dataset = Make(tokens), reseeded = Make(tokens, other);
  ASSERT_EQ(dataset.validation_samples(), 25);
  ASSERT_EQ(dataset.validation_micro_batches(), 7);
  std::set<std::vector<uint16_t>> seen;
  for (int i = 0; i < 7; ++i) {
    train::MicroBatch batch = dataset.ValidationMicroBatch(i);
    EXPECT_EQ(batch.sequences, i < 6 ? 4 : 1);
    EXPECT_EQ(batch.tokens.size(), batch.sequences * 9u);
    EXPECT_EQ(batch.tokens, reseeded.ValidationMicroBatch(i).tokens);
    for (int row = 0; row < batch.sequences; ++row) seen.insert(Row(batch, row));
  }
  std::set<std::vector<uint16_t>> expected;
  for (int i = 0; i < 25; ++i) expected.insert({tokens.begin() + 808 + i * 8, tokens.begin() + 808 + i * 8 + 9});
  EXPECT_EQ(seen, expected);
}

TEST(DatasetTest, WithoutValidation) {
  auto tokens = Tokens(9);
  DatasetOptions options = kOptions;
  options.validation_fraction = 0;
  Dataset dataset = Make(tokens, options);
  EXPECT_EQ(dataset.train_samples(), 1);
  EXPECT_EQ(dataset.validation_micro_batches(), 0);
  EXPECT_EQ(dataset.UnigramBitsPerByte(), 0);
}

TEST(DatasetTest, TheSmallestTextThatWorks) {
  auto tokens = Tokens(18);
  Dataset dataset = Make(tokens);
  EXPECT_EQ(dataset.train_samples(), 1);
  EXPECT_EQ(dataset.validation_samples(), 1);
  EXPECT_EQ(dataset.TrainMicroBatch(1000000, 2).sequences, 4);
}

TEST(DatasetTest, TokensOfTwoBytesAreLittleEndian) {
  std::vector<uint8_t> bytes;
  for (int token = 0; token < 500; ++token) {
    bytes.push_back(static_cast<uint8_t>(token * 3 % 256));
    bytes.push_back(static_cast<uint8_t>(token * 3 / 256));
  }
  DatasetOptions options = kOptions;
  options.token_bytes = 2;
  Dataset dataset = Make(bytes, options);
  EXPECT_EQ(dataset.train_samples(), 49);  // (400 - 1) / 8
  for (const train::MicroBatch& batch : {dataset.TrainMicroBatch(2, 1), dataset.ValidationMicroBatch(0)}) {
    for (int row = 0; row < batch.sequences; ++row) {
      const std::vector<uint16_t> window = Row(batch, row);
      EXPECT_EQ(window[0] % 24, 0) << "windows start every 8 tokens";
      for (size_t i = 1; i < window.size(); ++i) EXPECT_EQ(window[i], window[i - 1] + 3);
    }
  }
}

TEST(DatasetTest, ErrorsSayHowMuchThereIsAndIsNeeded) {
  auto tokens = Tokens(17);
  std::string message(Dataset::Create(tokens, "content", kOptions).status().message());
  EXPECT_THAT(message, HasSubstr("there are 17 tokens"));
  EXPECT_THAT(message, HasSubstr("needs at least 18"));
  auto refused = [&](auto change) {
    DatasetOptions options = kOptions;
    change(options);
    return Dataset::Create(Tokens(1000), "content", options).status().code() == absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](DatasetOptions& o) { o.context = 0; }));
  EXPECT_TRUE(refused([](DatasetOptions& o) { o.context = 2147483647; }));
  EXPECT_TRUE(refused([](DatasetOptions& o) { o.micro_batch = 0; }));
  EXPECT_TRUE(refused([](DatasetOptions& o) { o.micro_batch = 5; }));
  EXPECT_TRUE(refused([](DatasetOptions& o) { o.global_batch = -4; }));
  EXPECT_TRUE(refused([](DatasetOptions& o) { o.validation_fraction = 0.91; }));
  EXPECT_TRUE(refused([](DatasetOptions& o) { o.validation_fraction = std::nan(""); }));
}

TEST(DatasetTest, UnigramBaseline) {
  // Training: 90 'a'. Validation: 10 'b'. P(b) = 1 / (90 + 256).
  std::vector<uint8_t> tokens(100, 'a');
  std::fill(tokens.begin() + 90, tokens.end(), 'b');
  DatasetOptions options = kOptions;
  options.validation_fraction = 0.1;
  EXPECT_NEAR(Make(tokens, options).UnigramBitsPerByte(), std::log2(346.0), 1e-12);
}

TEST(DatasetTest, FingerprintNamesContentContextAndSplit) {
  auto tokens = Tokens(1000);
  DatasetOptions context = kOptions, split = kOptions, seed = kOptions;
  context.context = 9;
  split.validation_fraction = 0.3;
  seed.seed = 77;
  std::string fingerprint = Make(tokens).fingerprint();
  EXPECT_EQ(fingerprint.size(), 32u);
  EXPECT_EQ(Make(tokens, seed).fingerprint(), fingerprint);
  EXPECT_NE(Make(tokens, context).fingerprint(), fingerprint);
  EXPECT_NE(Make(tokens, split).fingerprint(), fingerprint);
  EXPECT_NE(Dataset::Create(tokens, "other", kOptions)->fingerprint(), fingerprint);
}

}  // namespace
}  // namespace rekindle::data
