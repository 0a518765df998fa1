// Reports what is wrong with a field that a user has written: its path, the reason and the fix.
#ifndef REKINDLE_COMMON_SPEC_FIELD_CHECK_H_
#define REKINDLE_COMMON_SPEC_FIELD_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace rekindle::common {

// Each check of this file returns INVALID_ARGUMENT for a wrong field, with a message that begins with `field`.
absl::Status WrongField(const std::string& field, const std::string& why);
// Returns an error unless the field's value is between `low` and `high`. NaN is out of every range.
absl::Status CheckRange(const std::string& field, double value, double low, double high);
// Returns an error unless the field's value is one of the `known` words. The error names the nearest word.
absl::Status CheckOneOf(const std::string& field, const std::string& value, const std::vector<std::string>& known);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_FIELD_CHECK_H_
