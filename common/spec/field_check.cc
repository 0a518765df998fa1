#include "common/spec/field_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/nearest.h"

namespace rekindle::common {

absl::Status WrongField(const std::string& field, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", why));
}

absl::Status CheckRange(const std::string& field, double value, double low, double high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return WrongField(field, absl::StrCat(value, " is out of range: use ", low, " to ", high));
}

absl::Status CheckOneOf(const std::string& field, const std::string& value, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return absl::OkStatus();
  const std::string nearest = Nearest(value, known);
  const std::string hint = nearest.empty() ? "" : absl::StrCat("did you mean '", nearest, "'? ");
  return WrongField(field, absl::StrCat("'", value, "' is not known; ", hint, "known: ", absl::StrJoin(known, ", ")));
}

}  // namespace rekindle::common
