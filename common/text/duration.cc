#include "common/text/duration.h"

#include <cctype>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace rekindle::common {
namespace {

double SecondsOf(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 24 * 3600;
    default:
      return 0;
  }
}

}  // namespace

absl::StatusOr<double> ParseDuration(const std::string& text) {
  const double unit = text.empty() ? 0 : SecondsOf(text.back());
  double number = 0;
  const auto is_digit = [&](size_t at) { return std::isdigit(static_cast<unsigned char>(text[at])) != 0; };
  // The text is checked first, because SimpleAtod accepts signs, spaces and words.
  const bool digits = text.size() >= 2 && is_digit(0) && is_digit(text.size() - 2);
  if (unit == 0 || !digits || !absl::SimpleAtod(text.substr(0, text.size() - 1), &number) ||
      !std::isfinite(number * unit)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text.substr(0, 100), "' is no duration: use a number and one of d, h, m and s, as 90d"));
  }
  return number * unit;
}

}  // namespace rekindle::common
