// Lets an error carry the lines of the user's own code from which it came, apart from its message.
#ifndef REKINDLE_WORKER_CONTRACT_USER_LINES_H_
#define REKINDLE_WORKER_CONTRACT_USER_LINES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace rekindle::train {

inline constexpr char kTracebackPayload[] = "rekindle.traceback";

// Returns the error with the lines of a traceback, which may be empty.
inline absl::Status WithTraceback(absl::Status error, const std::string& lines) {
  if (!lines.empty()) error.SetPayload(kTracebackPayload, absl::Cord(lines));
  return error;
}

// Returns the lines of the traceback that the error carries, or nothing.
inline std::string TracebackOf(const absl::Status& error) {
  const auto lines = error.GetPayload(kTracebackPayload);
  return lines ? std::string(*lines) : "";
}

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_CONTRACT_USER_LINES_H_
