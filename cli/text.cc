#include "cli/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string_view>

#include "cli/utf8.h"
#include "common/utf8.h"

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

// "3m 12s".
std::string TwoUnits(int64_t whole, const char* big, int64_t rest, const char* small) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%lld%s %02lld%s", static_cast<long long>(whole), big,
                static_cast<long long>(rest), small);
  return buffer;
}

double Share(double done, double total) { return total > 0 ? std::clamp(done / total, 0.0, 1.0) : 0; }

bool TurnsTheWriting(char32_t point) {
  return point == 0x061C || point == 0x200E || point == 0x200F || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

bool MayBeShown(char32_t point) {
  const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0);
  const bool ends_line = point == 0x2028 || point == 0x2029;
  return point == '\t' || (!control && !ends_line && !TurnsTheWriting(point));
}

}  // namespace

std::string Table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], static_cast<size_t>(ColumnsOf(row[i])));
  }
  std::string out;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - static_cast<size_t>(ColumnsOf(row[i])) + 2, ' ');
    }
    out += '\n';
  }
  return out;
}

std::string Bar(double done, double total, int width) {
  static constexpr std::array<const char*, 8> kParts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(std::floor(Share(done, total) * width * 8));
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  int cells = eighths / 8;
  if (eighths % 8 != 0) {
    bar += kParts[static_cast<size_t>(eighths % 8)];
    ++cells;
  }
  for (; cells < width; ++cells) bar += "░";
  return bar;
}

std::string AsciiBar(double done, double total, int width) {
  const auto filled = static_cast<size_t>(std::floor(Share(done, total) * width));
  return "[" + std::string(filled, '#') + std::string(static_cast<size_t>(width) - filled, '-') + "]";
}

std::string Fixed(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*f", digits, value);
  return buffer;
}

std::string Short(double value) {
  if (value >= 1e9) return Fixed(value / 1e9, 1) + "G";
  if (value >= 1e6) return Fixed(value / 1e6, 1) + "M";
  if (value >= 1e3) return Fixed(value / 1e3, 1) + "k";
  return Fixed(value, 0);
}

std::string LocalTime(double unix_seconds) { return Formatted(unix_seconds, "%Y-%m-%d %H:%M:%S"); }

std::string TimeOfDay(double unix_seconds) { return Formatted(unix_seconds, "%H:%M:%S"); }

std::string DurationText(double seconds) {
  constexpr double kMost = 1e9;  // Thirty years; and a number that is none is shown as no time at all.
  const auto whole = static_cast<int64_t>(seconds > 0 ? std::min(seconds, kMost) : 0);
  if (whole < 60) return std::to_string(whole) + "s";
  if (whole < 3600) return TwoUnits(whole / 60, "m", whole % 60, "s");
  if (whole < 86400) return TwoUnits(whole / 3600, "h", whole / 60 % 60, "m");
  return TwoUnits(whole / 86400, "d", whole / 3600 % 24, "h");
}

std::string StateName(v1::JobState state) { return v1::JobState_Name(state); }

bool Ended(v1::JobState state) { return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED; }

std::string UnitOf(const v1::JobSpec& spec) {
  return spec.data().has_table() || spec.data().has_images() ? "sample" : "token";
}

std::string Printable(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view before = rest;
    const std::optional<char32_t> point = common::TakeCodePoint(&rest);
    if (point && MayBeShown(*point)) {
      out.append(before.substr(0, before.size() - rest.size()));
    } else {
      out += '?';
    }
  }
  return out;
}

std::string PrintableLines(const std::string& text) {
  std::string out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out += Printable(text.substr(begin, end - begin));
    if (end < text.size()) out += '\n';
    begin = end + 1;
  }
  return out;
}

std::string HowToStartOn(const std::string& data) {
  return "next: give the folder to the coordinator's user (chown -R), and start the coordinator on it, with the flags "
         "and at the address that it had:\n  rekindle-coordinator --data " +
         data + " ...\n";
}

}  // namespace rekindle::cli
