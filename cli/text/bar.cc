#include "cli/text/bar.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rekindle::cli {
namespace {

double Share(double done, double total) { return total > 0 ? std::clamp(done / total, 0.0, 1.0) : 0; }

}  // namespace

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

}  // namespace rekindle::cli
