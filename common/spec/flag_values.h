// Makes checks for the values of flags of every program. The checks are CLI11 validators whose refusals are sentences.
// The name that a check gives to a value appears in help, man pages and completion. The functions are thread-safe.
#ifndef REKINDLE_COMMON_SPEC_FLAG_VALUES_H_
#define REKINDLE_COMMON_SPEC_FLAG_VALUES_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace rekindle::common {

// Accepts a whole number from `low` to `high`, both included.
CLI::Validator WholeNumber(int64_t low, int64_t high = std::numeric_limits<int64_t>::max());
// Accepts a finite number from `low` to `high`, both included.
CLI::Validator NumberFrom(double low, double high = std::numeric_limits<double>::infinity());
// Accepts a finite number above `low`.
CLI::Validator NumberAbove(double low);
// Accepts one of `values`. The refusal of a mistyped word says which one was probably meant.
CLI::Validator OneOf(const std::vector<std::string>& values);
// Accepts "90s", "1.5h", "2d" or plain seconds, if they are from `low` to `high` seconds. It is for Option::transform
// and converts the value to seconds.
CLI::Validator Seconds(double low = 0, double high = std::numeric_limits<double>::infinity());

// Accepts "512MiB", "5GB" or plain bytes, if they are from `low` to `high` bytes. A kilobyte has 1024. It is for
// Option::transform and converts the value to bytes.
CLI::Validator Bytes(uint64_t low, uint64_t high = std::numeric_limits<int64_t>::max());

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_FLAG_VALUES_H_
