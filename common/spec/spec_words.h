// Converts the words of a job's spec to the values that they stand for. Specs and records keep the words. Code whose
// decision depends on a word converts it with these functions.
#ifndef REKINDLE_COMMON_SPEC_SPEC_WORDS_H_
#define REKINDLE_COMMON_SPEC_SPEC_WORDS_H_

#include <string>
#include <string_view>

namespace rekindle::common {

// In each enum `kOther` stands for a missing word and for words that only other releases know.
enum class Reduce { kOther, kExact, kFp32, kBf16 };
enum class OptimizerState { kOther, kWhole, kSharded };
enum class Precision { kOther, kFp32, kBf16, kFp16, kAuto };
enum class DeviceKind { kOther, kCpu, kGpu };

// Converts the word of `training.reduce`.
Reduce ReduceOf(std::string_view word);
// Converts the word of `training.optimizer_state`.
OptimizerState OptimizerStateOf(std::string_view word);
// Converts the word of `training.precision`.
Precision PrecisionOf(std::string_view word);
// Converts the word for the kind of device that a spec or a pool asks for, or that a node reports.
DeviceKind DeviceKindOf(std::string_view word);

// Returns the word that stands for a value. It is empty for `kOther`.
std::string WordOf(Precision precision);
std::string WordOf(DeviceKind kind);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_SPEC_WORDS_H_
