// Says what the words of a job's spec stand for. Specs and records keep the words, and whoever decides by one of them
// reads it here.
#ifndef REKINDLE_COMMON_SPEC_SPEC_WORDS_H_
#define REKINDLE_COMMON_SPEC_SPEC_WORDS_H_

#include <string>
#include <string_view>

namespace rekindle::common {

// Each `kOther` stands for no word at all, and for words of other releases.
enum class Reduce { kOther, kExact, kFp32, kBf16 };
enum class OptimizerState { kOther, kWhole, kSharded };
enum class Precision { kOther, kFp32, kBf16, kFp16, kAuto };
enum class DeviceKind { kOther, kCpu, kGpu };

// Reads `training.reduce`.
Reduce ReduceOf(std::string_view word);
// Reads `training.optimizer_state`.
OptimizerState OptimizerStateOf(std::string_view word);
// Reads `training.precision`.
Precision PrecisionOf(std::string_view word);
// Reads the kind of device that a spec or a pool asks for, or that a node reports.
DeviceKind DeviceKindOf(std::string_view word);

// Returns the word, which is empty for `kOther`.
std::string WordOf(Precision precision);
std::string WordOf(DeviceKind kind);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_SPEC_WORDS_H_
