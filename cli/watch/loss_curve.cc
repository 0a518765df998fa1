#include "cli/watch/loss_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "cli/text/terminal_columns.h"

namespace rekindle::cli {
namespace {

// The scale at the left of the curve is as wide as the labels of the lines above the curve.
constexpr int kScaleColumns = 12;
constexpr int kEighths = 8;
constexpr std::array<const char*, kEighths + 1> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

using Points = std::vector<v1::LossPoint>;

// Returns one value per column of the curve. It is the mean of the points in the column. A column without points gets a
// value on the line between its neighbours that have some.
std::vector<double> Sample(const Points& points, int columns) {
  const double first = points.front().step();
  const double last = points.back().step();
  const auto width = static_cast<size_t>(columns);
  std::vector<double> sums(width), counts(width);
  for (const v1::LossPoint& point : points) {
    const double at = std::clamp((point.step() - first) / (last - first), 0.0, 1.0);
    const auto column = static_cast<size_t>(std::lround(at * (columns - 1)));
    sums[column] += point.value();
    counts[column] += 1;
  }
  std::vector<double> values(width);
  // `before` is the last column before column i that has a point. The first and the last column of the curve always
  // have one.
  size_t before = 0;
  for (size_t i = 0; i < width; ++i) {
    if (counts[i] == 0) continue;
    values[i] = sums[i] / counts[i];
    for (size_t between = before + 1; between < i; ++between) {
      const double share = static_cast<double>(between - before) / static_cast<double>(i - before);
      values[between] = values[before] + share * (values[i] - values[before]);
    }
    before = i;
  }
  return values;
}

std::string Scale(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.4g", value);
  return PadTo(buffer, kScaleColumns);
}

// Returns the line with the steps below the curve, such as "step 1 82".
std::string Axis(const Points& points, int columns) {
  const std::string left = "step " + std::to_string(points.front().step());
  const std::string right = std::to_string(points.back().step());
  const int gap = std::max(1, columns - kScaleColumns - static_cast<int>(left.size() + right.size()));
  return std::string(kScaleColumns, ' ') + left + std::string(static_cast<size_t>(gap), ' ') + right;
}

}  // namespace

std::vector<std::string> LossCurve(const google::protobuf::RepeatedPtrField<v1::LossPoint>& points, int columns,
                                   int rows) {
  std::vector<std::string> lines(static_cast<size_t>(rows));
  Points finite;
  std::copy_if(points.begin(), points.end(), std::back_inserter(finite),
               [](const v1::LossPoint& point) { return std::isfinite(point.value()); });
  if (finite.size() < 2 || finite.front().step() >= finite.back().step()) return lines;
  const std::vector<double> values = Sample(finite, columns - kScaleColumns);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double range = std::max(*high - *low, 1e-12);
  const int plot_rows = rows - 1;
  for (int row = 0; row < plot_rows; ++row) {
    std::string& line = lines[static_cast<size_t>(row)];
    line = row == 0 ? Scale(*high) : row == plot_rows - 1 ? Scale(*low) : std::string(kScaleColumns, ' ');
    const int below = (plot_rows - 1 - row) * kEighths;
    for (const double value : values) {
      const double share = (value - *low) / range;
      const int height = 1 + static_cast<int>(std::lround(share * (plot_rows * kEighths - 1)));
      line += kBlocks[static_cast<size_t>(std::clamp(height - below, 0, kEighths))];
    }
  }
  lines.back() = Axis(finite, columns);
  return lines;
}

}  // namespace rekindle::cli
