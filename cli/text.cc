#include "cli/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace rekindle::cli {

std::string Table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - row[i].size() + 2, ' ');
    }
    out += '\n';
  }
  return out;
}

std::string Bar(double done, double total, int width) {
  static constexpr std::array<const char*, 8> kParts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double share = total > 0 ? std::clamp(done / total, 0.0, 1.0) : 0;
  const int eighths = static_cast<int>(std::floor(share * width * 8));
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

std::string LocalTime(double unix_seconds) {
  const auto seconds = static_cast<time_t>(unix_seconds);
  tm local = {};
  localtime_r(&seconds, &local);
  char buffer[32];
  std::strftime(buffer, sizeof(buffer), "%Y-%m-%d %H:%M:%S", &local);
  return buffer;
}

std::string StateName(v1::JobState state) { return v1::JobState_Name(state); }

bool Ended(v1::JobState state) { return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED; }

std::string Printable(const std::string& text) {
  std::string out = text;
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7f) c = '?';
  }
  return out;
}

std::string HowToStartOn(const std::string& data) {
  return "next: give the folder to the coordinator's user (chown -R), and start the coordinator on it, with the flags "
         "and at the address that it had:\n  rekindle-coordinator --data " +
         data + " ...\n";
}

}  // namespace rekindle::cli
