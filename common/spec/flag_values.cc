#include "common/spec/flag_values.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/text/duration.h"
#include "common/text/nearest.h"

namespace rekindle::common {
namespace {

// A refusal shows at most `kShown` bytes of the given value.
constexpr size_t kShown = 60;

std::string Given(const std::string& text) {
  return absl::StrCat("'", text.substr(0, kShown), text.size() > kShown ? "..." : "", "'");
}

// Returns a text like "0 or more" or "from 1 to 64".
template <typename Number>
std::string RangeText(Number low, Number high, Number unbounded) {
  return high == unbounded ? absl::StrCat(low, " or more") : absl::StrCat("from ", low, " to ", high);
}

// Parses a decimal number. Abseil also accepts hexadecimal, in which nobody writes an amount or a time.
bool ToNumber(const std::string& text, double* value) {
  return text.find_first_of("xX") == std::string::npos && absl::SimpleAtod(text, value) && std::isfinite(*value);
}

}  // namespace

CLI::Validator WholeNumber(int64_t low, int64_t high) {
  const std::string range = RangeText(low, high, std::numeric_limits<int64_t>::max());
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        int64_t value = 0;
        if (absl::SimpleAtoi(text, &value) && value >= low && value <= high) return "";
        return absl::StrCat("must be a whole number, ", range, ", not ", Given(text));
      },
      "N");
}

CLI::Validator NumberFrom(double low, double high) {
  const std::string range = RangeText(low, high, std::numeric_limits<double>::infinity());
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        double value = 0;
        if (ToNumber(text, &value) && value >= low && value <= high) return "";
        return absl::StrCat("must be a number, ", range, ", not ", Given(text));
      },
      "NUMBER");
}

CLI::Validator NumberAbove(double low) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        double value = 0;
        if (ToNumber(text, &value) && value > low) return "";
        return absl::StrCat("must be a number above ", low, ", not ", Given(text));
      },
      "NUMBER");
}

CLI::Validator OneOf(const std::vector<std::string>& values) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        for (const std::string& value : values) {
          if (text == value) return "";
        }
        const std::string nearest = Nearest(text, values);
        return absl::StrCat("must be ", absl::StrJoin(values, " or "), ", not ", Given(text),
                            nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?"));
      },
      absl::StrCat("{", absl::StrJoin(values, ","), "}"));
}

CLI::Validator Seconds(double low, double high) {
  const std::string range = RangeText(low, high, std::numeric_limits<double>::infinity());
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        double seconds = 0;
        if (!ToNumber(text, &seconds)) {
          const auto parsed = ParseDuration(text);
          if (!parsed.ok()) return absl::StrCat("must be a time, as 90s, 5m, 1.5h or 2d, not ", Given(text));
          seconds = *parsed;
        }
        if (seconds < low || seconds > high) return absl::StrCat("must be ", range, " seconds, not ", Given(text));
        text = absl::StrFormat("%.17g", seconds);
        return "";
      },
      "TIME");
}

CLI::Validator Bytes(uint64_t low, uint64_t high) {
  const CLI::AsSizeValue parse(/*kb_is_1000=*/false);
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        std::string parsed = text;
        uint64_t bytes = 0;
        try {
          if (!parse(parsed).empty() || !absl::SimpleAtoi(parsed, &bytes)) throw CLI::ValidationError("");
        } catch (const CLI::ValidationError&) {
          return absl::StrCat("must be a size, as 512MiB or 5GB, not ", Given(text));
        }
        if (bytes < low || bytes > high) {
          return absl::StrCat("must be from ", low, " to ", high, " bytes, not ", Given(text));
        }
        text = parsed;
        return "";
      },
      "SIZE");
}

}  // namespace rekindle::common
