#include "cli/text/number_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace rekindle::cli {
namespace {

std::string Formatted(double unix_seconds, const char* format) {
  const auto seconds = static_cast<time_t>(unix_seconds);
  tm local = {};
  localtime_r(&seconds, &local);
  char buffer[32];
  std::strftime(buffer, sizeof(buffer), format, &local);
  return buffer;
}

// Returns a duration such as "3m 12s".
std::string TwoUnits(int64_t whole, const char* big, int64_t rest, const char* small) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%lld%s %02lld%s", static_cast<long long>(whole), big,
                static_cast<long long>(rest), small);
  return buffer;
}

}  // namespace

std::string Short(double value) {
  if (value >= 1e9) return Fixed(value / 1e9, 1) + "G";
  if (value >= 1e6) return Fixed(value / 1e6, 1) + "M";
  if (value >= 1e3) return Fixed(value / 1e3, 1) + "k";
  return Fixed(value, 0);
}

std::string Fixed(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*f", digits, value);
  return buffer;
}

std::string LocalTime(double unix_seconds) { return Formatted(unix_seconds, "%Y-%m-%d %H:%M:%S"); }

std::string TimeOfDay(double unix_seconds) { return Formatted(unix_seconds, "%H:%M:%S"); }

std::string DurationText(double seconds) {
  // Durations longer than about thirty years are shown as if they were that long, and NaN is shown as "0s".
  constexpr double kMost = 1e9;
  const auto whole = static_cast<int64_t>(seconds > 0 ? std::min(seconds, kMost) : 0);
  if (whole < 60) return std::to_string(whole) + "s";
  if (whole < 3600) return TwoUnits(whole / 60, "m", whole % 60, "s");
  if (whole < 86400) return TwoUnits(whole / 3600, "h", whole / 60 % 60, "m");
  return TwoUnits(whole / 86400, "d", whole / 3600 % 24, "h");
}

}  // namespace rekindle::cli
