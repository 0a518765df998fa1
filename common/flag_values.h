// What a flag may be given, for every program: checks for CLI11 whose refusals are sentences. The name that a check
// gives to a value stands in help, man pages and completion. Thread-safe.
#ifndef REKINDLE_COMMON_FLAG_VALUES_H_
#define REKINDLE_COMMON_FLAG_VALUES_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace rekindle::common {

// A whole number from `low` to `high`, both included.
CLI::Validator WholeNumber(int64_t low, int64_t high = std::numeric_limits<int64_t>::max());
// A finite number from `low` to `high`, both included.
CLI::Validator NumberFrom(double low, double high = std::numeric_limits<double>::infinity());
// A finite number above `low`.
CLI::Validator NumberAbove(double low);
// One of `values`; a mistyped one is told which it may have meant.
CLI::Validator OneOf(const std::vector<std::string>& values);
// "90s", "1.5h", "2d" or plain seconds, from `low` to `high` of them. For Option::transform: becomes seconds.
CLI::Validator Seconds(double low = 0, double high = std::numeric_limits<double>::infinity());

// "512MiB", "5GB" or plain bytes, from `low` to `high` of them; a kilobyte has 1024. For Option::transform: becomes
// bytes.
CLI::Validator Bytes(uint64_t low, uint64_t high = std::numeric_limits<int64_t>::max());

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_FLAG_VALUES_H_
