#include "common/spec/spec_words.h"

#include "common/spec/word_table.h"

namespace rekindle::common {
namespace {

constexpr Word<Reduce> kReduces[] = {{"exact", Reduce::kExact}, {"fp32", Reduce::kFp32}, {"bf16", Reduce::kBf16}};
constexpr Word<OptimizerState> kOptimizerStates[] = {{"whole", OptimizerState::kWhole},
                                                     {"sharded", OptimizerState::kSharded}};
constexpr Word<Precision> kPrecisions[] = {
    {"fp32", Precision::kFp32}, {"bf16", Precision::kBf16}, {"fp16", Precision::kFp16}, {"auto", Precision::kAuto}};
constexpr Word<DeviceKind> kDeviceKinds[] = {{"cpu", DeviceKind::kCpu}, {"cuda", DeviceKind::kGpu}};

}  // namespace

Reduce ReduceOf(std::string_view word) { return ValueOf(kReduces, word, Reduce::kOther); }

OptimizerState OptimizerStateOf(std::string_view word) {
  return ValueOf(kOptimizerStates, word, OptimizerState::kOther);
}

Precision PrecisionOf(std::string_view word) { return ValueOf(kPrecisions, word, Precision::kOther); }

DeviceKind DeviceKindOf(std::string_view word) { return ValueOf(kDeviceKinds, word, DeviceKind::kOther); }

std::string WordOf(Precision precision) { return WordIn(kPrecisions, precision); }

std::string WordOf(DeviceKind kind) { return WordIn(kDeviceKinds, kind); }

}  // namespace rekindle::common
