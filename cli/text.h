// Text for people: tables, bars, numbers.
#ifndef REKINDLE_CLI_TEXT_H_
#define REKINDLE_CLI_TEXT_H_

#include <string>
#include <vector>

#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Columns padded to their widest cell, in columns of a terminal; the first row is the head.
std::string Table(const std::vector<std::vector<std::string>>& rows);
// `width` cells, filled to done / total with eighth blocks.
std::string Bar(double done, double total, int width);
// A bar for terminals without UTF-8: "[####------]", with `width` cells between the brackets.
std::string AsciiBar(double done, double total, int width);
// 12345 -> "12.3k".
std::string Short(double value);
// "%.{digits}f"
std::string Fixed(double value, int digits);
// "2026-01-31 12:00:00" in local time.
std::string LocalTime(double unix_seconds);
// "12:00:00" in local time.
std::string TimeOfDay(double unix_seconds);
// "45s", "3m 12s", "1h 02m", "2d 03h".
std::string DurationText(double seconds);
// "RUNNING" and the like.
std::string StateName(v1::JobState state);
// No more newer states follow.
bool Ended(v1::JobState state);
// What the job's data and speed are counted in: "token" or "sample".
std::string UnitOf(const v1::JobSpec& spec);

// Text of others must not drive the terminal, nor show another text than there is. So control characters (C0 but for
// the tab, DEL, C1), those that change the direction of writing or begin a line, and bytes that are no UTF-8 become
// '?'.
std::string Printable(const std::string& text);
// Like Printable, but line feeds stay.
std::string PrintableLines(const std::string& text);

// What is left to do with a coordinator's data folder that was made anew.
std::string HowToStartOn(const std::string& data);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TEXT_H_
