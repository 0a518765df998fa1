#include "common/spec/spec_words.h"

#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

TEST(SpecWordsTest, ReduceHasThreeWords) {
  EXPECT_EQ(ReduceOf("exact"), Reduce::kExact);
  EXPECT_EQ(ReduceOf("fp32"), Reduce::kFp32);
  EXPECT_EQ(ReduceOf("bf16"), Reduce::kBf16);
}

TEST(SpecWordsTest, OptimizerStateHasTwoWords) {
  EXPECT_EQ(OptimizerStateOf("whole"), OptimizerState::kWhole);
  EXPECT_EQ(OptimizerStateOf("sharded"), OptimizerState::kSharded);
}

TEST(SpecWordsTest, EachPrecisionIsReadAsItIsWritten) {
  for (const char* word : {"fp32", "bf16", "fp16", "auto"}) EXPECT_EQ(WordOf(PrecisionOf(word)), word);
  EXPECT_EQ(PrecisionOf("bf16"), Precision::kBf16);
}

TEST(SpecWordsTest, EachKindOfDeviceIsReadAsItIsWritten) {
  for (const char* word : {"cpu", "cuda"}) EXPECT_EQ(WordOf(DeviceKindOf(word)), word);
  EXPECT_EQ(DeviceKindOf("cuda"), DeviceKind::kGpu);
}

TEST(SpecWordsTest, EveryOtherWordIsAnother) {
  for (const char* word : {"", "Exact", "fp8", "tpu", "exact "}) {
    EXPECT_EQ(ReduceOf(word), Reduce::kOther) << word;
    EXPECT_EQ(OptimizerStateOf(word), OptimizerState::kOther) << word;
    EXPECT_EQ(PrecisionOf(word), Precision::kOther) << word;
    EXPECT_EQ(DeviceKindOf(word), DeviceKind::kOther) << word;
  }
  EXPECT_EQ(WordOf(Precision::kOther), "");
  EXPECT_EQ(WordOf(DeviceKind::kOther), "");
}

}  // namespace
}  // namespace rekindle::common
