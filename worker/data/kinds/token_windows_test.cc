#include "worker/data/kinds/token_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace rekindle::data {
namespace {

using ::testing::HasSubstr;

// Returns tokens of which every window is different.
std::vector<uint8_t> Tokens(size_t size) {
  std::vector<uint8_t> tokens(size);
  for (size_t i = 0; i < size; ++i) tokens[i] = static_cast<uint8_t>((i * 2654435761u) >> 13);
  return tokens;
}

const TokenWindowsOptions kOptions = {
    .seed = 3, .context = 8, .global_batch = 12, .micro_batch = 4, .validation_fraction = 0.2};

TokenWindows Make(std::span<const uint8_t> tokens, const TokenWindowsOptions& options = kOptions) {
  auto windows = TokenWindows::Create(tokens, "content", options);
  EXPECT_TRUE(windows.ok()) << windows.status();
  return *windows;
}

std::vector<uint16_t> Row(const train::MicroBatch& batch, int row) {
  size_t window = batch.context + 1;
  return {batch.tokens.begin() + row * window, batch.tokens.begin() + (row + 1) * window};
}

TEST(TokenWindowsTest, ShapesAndSplit) {
  auto tokens = Tokens(1000);
  TokenWindows windows = Make(tokens);
  // 800 tokens for training and 200 for validation, in windows of 8, make (800 - 1) / 8 and (200 - 1) / 8 samples.
  EXPECT_EQ(windows.train_samples(), 99);
  EXPECT_EQ(windows.validation_samples(), 24);
  train::MicroBatch batch = windows.TrainMicroBatch(0, 2);
  EXPECT_EQ(batch.index, 2);
  EXPECT_EQ(batch.first, 8);
  EXPECT_EQ(windows.TrainMicroBatch(3, 1).first, 3 * 12 + 4);
  EXPECT_EQ(windows.ValidationMicroBatch(2).first, 8);
  EXPECT_EQ(batch.sequences, 4);
  EXPECT_EQ(batch.context, 8);
  EXPECT_EQ(batch.tokens.size(), 4u * 9);
}

// An epoch holds every training window once, also when it begins or ends in the middle of a step.
TEST(TokenWindowsTest, AnEpochSeesEverySampleOnce) {
  auto tokens = Tokens(1000);
  TokenWindows windows = Make(tokens);
  std::set<std::vector<uint16_t>> expected;
  for (int i = 0; i < 99; ++i) expected.insert({tokens.begin() + i * 8, tokens.begin() + i * 8 + 9});
  ASSERT_EQ(expected.size(), 99u);
  std::map<std::vector<uint16_t>, int> seen;
  // The loop reads four epochs of 99 samples, so each training window must come four times.
  for (int n = 0; n < 99 * 4; n += 4) {
    train::MicroBatch batch = windows.TrainMicroBatch(n / 12, n % 12 / 4);
    for (int row = 0; row < 4; ++row) ++seen[Row(batch, row)];
  }
  EXPECT_EQ(seen.size(), 99u);
  for (const auto& [window, count] : seen) {
    EXPECT_TRUE(expected.contains(window));
    EXPECT_EQ(count, 4);
  }
}

TEST(TokenWindowsTest, OrderDependsOnSampleNumberOnly) {
  auto tokens = Tokens(1000);
  TokenWindowsOptions other = kOptions;
  other.global_batch = 6;
  other.micro_batch = 2;
  TokenWindows a = Make(tokens), b = Make(tokens, other);
  // In the batches of `a`, which have 12 samples in micro-batches of 4, sample 67 of the run is row 3 of micro-batch 1
  // of step 5. In those of `b`, which have 6 samples in micro-batches of 2, it is row 1 of micro-batch 0 of step 11.
  EXPECT_EQ(Row(a.TrainMicroBatch(5, 1), 3), Row(b.TrainMicroBatch(11, 0), 1));
  EXPECT_EQ(a.TrainMicroBatch(7, 1).tokens, a.TrainMicroBatch(7, 1).tokens);
  other = kOptions;
  other.seed = 4;
  EXPECT_NE(a.TrainMicroBatch(0, 0).tokens, Make(tokens, other).TrainMicroBatch(0, 0).tokens);
  // At 12 samples a step and 99 an epoch, step 33 begins with sample 0 of the fifth epoch.
  EXPECT_NE(a.TrainMicroBatch(0, 0).tokens, a.TrainMicroBatch(33, 0).tokens);
}

TEST(TokenWindowsTest, ValidationIsFixedAndComplete) {
  // There are 1010 tokens, and 202 of them are for validation. These have 25 windows, so the last micro-batch has one.
  auto tokens = Tokens(1010);
  TokenWindowsOptions other = kOptions;
  other.seed = 4;
  TokenWindows windows = Make(tokens), reseeded = Make(tokens, other);
  ASSERT_EQ(windows.validation_samples(), 25);
  ASSERT_EQ(windows.validation_micro_batches(), 7);
  std::set<std::vector<uint16_t>> seen;
  for (int i = 0; i < 7; ++i) {
    train::MicroBatch batch = windows.ValidationMicroBatch(i);
    EXPECT_EQ(batch.sequences, i < 6 ? 4 : 1);
    EXPECT_EQ(batch.tokens.size(), batch.sequences * 9u);
    EXPECT_EQ(batch.tokens, reseeded.ValidationMicroBatch(i).tokens);
    for (int row = 0; row < batch.sequences; ++row) seen.insert(Row(batch, row));
  }
  std::set<std::vector<uint16_t>> expected;
  for (int i = 0; i < 25; ++i) expected.insert({tokens.begin() + 808 + i * 8, tokens.begin() + 808 + i * 8 + 9});
  EXPECT_EQ(seen, expected);
}

TEST(TokenWindowsTest, WithoutValidation) {
  auto tokens = Tokens(9);
  TokenWindowsOptions options = kOptions;
  options.validation_fraction = 0;
  TokenWindows windows = Make(tokens, options);
  EXPECT_EQ(windows.train_samples(), 1);
  EXPECT_EQ(windows.validation_micro_batches(), 0);
  EXPECT_EQ(windows.UnigramBitsPerByte(), 0);
}

TEST(TokenWindowsTest, TheSmallestTextThatWorks) {
  auto tokens = Tokens(18);
  TokenWindows windows = Make(tokens);
  EXPECT_EQ(windows.train_samples(), 1);
  EXPECT_EQ(windows.validation_samples(), 1);
  EXPECT_EQ(windows.TrainMicroBatch(1000000, 2).sequences, 4);
}

TEST(TokenWindowsTest, TokensOfTwoBytesAreLittleEndian) {
  std::vector<uint8_t> bytes;
  for (int token = 0; token < 500; ++token) {
    bytes.push_back(static_cast<uint8_t>(token * 3 % 256));
    bytes.push_back(static_cast<uint8_t>(token * 3 / 256));
  }
  TokenWindowsOptions options = kOptions;
  options.token_bytes = 2;
  TokenWindows windows = Make(bytes, options);
  // 400 tokens for training, in windows of 8, make (400 - 1) / 8 samples.
  EXPECT_EQ(windows.train_samples(), 49);
  for (const train::MicroBatch& batch : {windows.TrainMicroBatch(2, 1), windows.ValidationMicroBatch(0)}) {
    for (int row = 0; row < batch.sequences; ++row) {
      const std::vector<uint16_t> window = Row(batch, row);
      EXPECT_EQ(window[0] % 24, 0) << "windows start every 8 tokens";
      for (size_t i = 1; i < window.size(); ++i) EXPECT_EQ(window[i], window[i - 1] + 3);
    }
  }
}

TEST(TokenWindowsTest, ErrorsSayHowMuchThereIsAndIsNeeded) {
  auto tokens = Tokens(17);
  std::string message(TokenWindows::Create(tokens, "content", kOptions).status().message());
  EXPECT_THAT(message, HasSubstr("there are 17 tokens"));
  EXPECT_THAT(message, HasSubstr("needs at least 18"));
  auto refused = [&](auto change) {
    TokenWindowsOptions options = kOptions;
    change(options);
    return TokenWindows::Create(Tokens(1000), "content", options).status().code() == absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](TokenWindowsOptions& o) { o.context = 0; }));
  EXPECT_TRUE(refused([](TokenWindowsOptions& o) { o.context = 2147483647; }));
  EXPECT_TRUE(refused([](TokenWindowsOptions& o) { o.micro_batch = 0; }));
  EXPECT_TRUE(refused([](TokenWindowsOptions& o) { o.micro_batch = 5; }));
  EXPECT_TRUE(refused([](TokenWindowsOptions& o) { o.global_batch = -4; }));
  EXPECT_TRUE(refused([](TokenWindowsOptions& o) { o.validation_fraction = 0.91; }));
  EXPECT_TRUE(refused([](TokenWindowsOptions& o) { o.validation_fraction = std::nan(""); }));
}

TEST(TokenWindowsTest, UnigramBaseline) {
  // The tokens are 90 'a' for training and 10 'b' for validation. So P(b) = 1 / (90 + 256).
  std::vector<uint8_t> tokens(100, 'a');
  std::fill(tokens.begin() + 90, tokens.end(), 'b');
  TokenWindowsOptions options = kOptions;
  options.validation_fraction = 0.1;
  EXPECT_NEAR(Make(tokens, options).UnigramBitsPerByte(), std::log2(346.0), 1e-12);
}

TEST(TokenWindowsTest, FingerprintNamesContentContextAndSplit) {
  auto tokens = Tokens(1000);
  TokenWindowsOptions context = kOptions, split = kOptions, seed = kOptions;
  context.context = 9;
  split.validation_fraction = 0.3;
  seed.seed = 77;
  std::string fingerprint = Make(tokens).fingerprint();
  EXPECT_EQ(fingerprint.size(), 32u);
  EXPECT_EQ(Make(tokens, seed).fingerprint(), fingerprint);
  EXPECT_NE(Make(tokens, context).fingerprint(), fingerprint);
  EXPECT_NE(Make(tokens, split).fingerprint(), fingerprint);
  EXPECT_NE(TokenWindows::Create(tokens, "other", kOptions)->fingerprint(), fingerprint);
}

}  // namespace
}  // namespace rekindle::data
