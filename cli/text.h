// Text for people: tables, bars, numbers.
#ifndef REKINDLE_CLI_TEXT_H_
#define REKINDLE_CLI_TEXT_H_

#include <string>
#include <vector>

#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Columns padded to their widest cell; the first row is the head.
std::string Table(const std::vector<std::vector<std::string>>& rows);
// `width` cells, filled to done / total with eighth blocks.
std::string Bar(double done, double total, int width);
// 12345 -> "12.3k".
std::string Short(double value);
// "%.{digits}f"
std::string Fixed(double value, int digits);
// "2026-01-31 12:00:00" in local time.
std::string LocalTime(double unix_seconds);
// "RUNNING" and the like.
std::string StateName(v1::JobState state);
// No more newer states follow.
bool Ended(v1::JobState state);
// Bytes below 0x20 and DEL become '?': text of others must not drive the terminal.
std::string Printable(const std::string& text);

// What is left to do with a coordinator's data folder that was made anew.
std::string HowToStartOn(const std::string& data);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TEXT_H_
