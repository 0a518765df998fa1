// Interprets the error texts of cloud libraries. The functions are pure.
#ifndef REKINDLE_COMMON_OBJECTS_OBJECT_ERRORS_H_
#define REKINDLE_COMMON_OBJECTS_OBJECT_ERRORS_H_

#include <string>

#include "absl/status/status.h"

namespace rekindle::common {

// Returns "WHAT: TEXT" with the code that the text stands for, and with what to do if that is known:
//   PERMISSION_DENIED   credentials are missing, refused or expired, or clocks differ
//   RESOURCE_EXHAUSTED  the store asks to slow down, or is full
//   DATA_LOSS           a part or checksum does not match
//   UNAVAILABLE         anything else. The error is permanent (retry.h) if the bucket is not there.
// Texts go through WithoutSecrets.
absl::Status ObjectError(const std::string& what, const std::string& text);
// Returns the error of a missing bucket. It is not NOT_FOUND, as a missing bucket must never be taken for an empty
// store.
absl::Status NoBucket(const std::string& what);

// Returns `text` as one line of at most 300 characters. Values of parameters and headers that sign or identify are
// replaced by "***".
std::string WithoutSecrets(const std::string& text);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_OBJECTS_OBJECT_ERRORS_H_
