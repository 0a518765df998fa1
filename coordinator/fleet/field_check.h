// What a fleet file's errors say of a field: its path, what is wrong, and the fix.
#ifndef REKINDLE_COORDINATOR_FLEET_FIELD_CHECK_H_
#define REKINDLE_COORDINATOR_FLEET_FIELD_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace rekindle::fleet {

inline absl::Status Wrong(const std::string& field, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", why));
}

inline absl::Status Range(const std::string& field, double value, double low, double high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return Wrong(field, absl::StrCat(value, " is out of range: use ", low, " to ", high));
}

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_FIELD_CHECK_H_
