// Formats numbers, times and durations for people.
#ifndef REKINDLE_CLI_TEXT_NUMBER_TEXT_H_
#define REKINDLE_CLI_TEXT_NUMBER_TEXT_H_

#include <string>

namespace rekindle::cli {

// Returns a short form of the number: "12.3k" for 12345.
std::string Short(double value);
// Returns `value` as a decimal number with `digits` digits after the point.
std::string Fixed(double value, int digits);
// Returns a Unix time as a text like "2026-01-31 12:00:00" in local time.
std::string LocalTime(double unix_seconds);
// Returns a Unix time as a text like "12:00:00" in local time.
std::string TimeOfDay(double unix_seconds);
// Returns a duration such as "45s", "3m 12s", "1h 02m" or "2d 03h".
std::string DurationText(double seconds);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TEXT_NUMBER_TEXT_H_
