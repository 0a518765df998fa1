// What a cloud library's error text means. Pure.
#ifndef REKINDLE_COMMON_OBJECT_ERRORS_H_
#define REKINDLE_COMMON_OBJECT_ERRORS_H_

#include <string>

#include "absl/status/status.h"

namespace rekindle::common {

// "WHAT: TEXT" with the code that the text stands for, and what to do where that is known:
//   PERMISSION_DENIED   credentials missing, refused or expired; clocks that differ
//   RESOURCE_EXHAUSTED  told to slow down; full
//   DATA_LOSS           a part or checksum that does not match
//   UNAVAILABLE         the rest; permanent (retry.h) when the bucket is not there
// Texts go through WithoutSecrets.
absl::Status ObjectError(const std::string& what, const std::string& text);
// The bucket is not there: never to be taken for an empty store, hence not NOT_FOUND.
absl::Status NoBucket(const std::string& what);

// One line of at most 300 characters; values of parameters and headers that sign or identify are replaced by "***".
std::string WithoutSecrets(const std::string& text);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_OBJECT_ERRORS_H_
