// Parses durations as people write them in job files and on command lines: "90d", "1.5h", "30m", "20s".
#ifndef REKINDLE_COMMON_TEXT_DURATION_H_
#define REKINDLE_COMMON_TEXT_DURATION_H_

#include <string>

#include "absl/status/statusor.h"

namespace rekindle::common {

// Parses a duration and returns it in seconds, which are finite and not negative. INVALID_ARGUMENT says how to write a
// duration.
absl::StatusOr<double> ParseDuration(const std::string& text);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TEXT_DURATION_H_
