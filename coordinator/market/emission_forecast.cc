#include "coordinator/market/emission_forecast.h"

#include <algorithm>
#include <cmath>

namespace rekindle::market {
namespace {

// All numbers of a forecast but `kDay` were chosen by hand, and no results with other values are recorded.
constexpr int kDay = 24;
// A forecast uses `kDays` days of history, so that each day of the week is among them.
constexpr int kDays = 7;
// In a forecast, each day weighs `kOlderDay` times as much as the day after it.
constexpr double kOlderDay = 0.5;
// The mean of the last `kRecentHours` hours shows today's level of emissions.
constexpr int kRecentHours = 4;
// Today's level of emissions says little about hours that are more than `kLevelFades` hours away.
constexpr double kLevelFades = 12;

// Returns the mean of the same hour of the day over the days before `now`, or the value of `now` where there are none.
double OfDaysBefore(const std::vector<double>& grams, int hour, int now) {
  double sum = 0;
  double weights = 0;
  double weight = 1;
  int at = hour - kDay * ((hour - now + kDay - 1) / kDay);
  if (hour <= now) at = hour - kDay;
  for (int day = 0; day < kDays && at >= 0; ++day, at -= kDay) {
    sum += weight * grams[at];
    weights += weight;
    weight *= kOlderDay;
  }
  return weights > 0 ? sum / weights : grams[now];
}

}  // namespace

std::vector<double> ForecastEmissions(const std::vector<double>& grams, int now, int horizon) {
  double seen = 0;
  double expected = 0;
  for (int hour = std::max(0, now - kRecentHours + 1); hour <= now; ++hour) {
    seen += grams[hour];
    expected += OfDaysBefore(grams, hour, hour);
  }
  const double level = expected > 0 ? seen / expected : 1;
  std::vector<double> out = {grams[now]};
  for (int ahead = 1; ahead < horizon; ++ahead) {
    const double scale = 1 + (level - 1) * std::exp(-ahead / kLevelFades);
    out.push_back(scale * OfDaysBefore(grams, now + ahead, now));
  }
  return out;
}

}  // namespace rekindle::market
