#include "coordinator/fleet/world.h"

#include <algorithm>
#include <cmath>

namespace rekindle::fleet {
namespace {

constexpr int kDay = 24;
constexpr int kDays = 7;            // Of history.
constexpr double kOlderDay = 0.5;   // Weight of a day against that of the day after.
constexpr int kRecentHours = 4;     // That tell today's level.
constexpr double kLevelFades = 12;  // Hours until today's level says little of those to come.

int HourIndex(const WorldPool& pool, double hours) {
  const int index = pool.grams_begin + static_cast<int>(std::floor(hours + 1e-9));
  return std::clamp(index, 0, static_cast<int>(pool.grams.size()) - 1);
}

// The same hour of the day, from days before `now`; none: the value of `now`.
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

double LeastSpeed(const std::vector<WorldPool>& pools) {
  double least = scheduler::kNever;
  for (const WorldPool& pool : pools) least = std::min(least, pool.speed);
  return pools.empty() ? 1 : least;
}

double WorldPool::Grams(double hours) const { return grams.empty() ? 0 : grams[HourIndex(*this, hours)]; }

World World::From(int first) const {
  World out{.step_hours = step_hours, .steps = steps - first, .pools = pools};
  for (WorldPool& pool : out.pools) {
    if (pool.available.size() > 1) pool.available.erase(pool.available.begin(), pool.available.begin() + first);
    if (pool.price.size() > 1) pool.price.erase(pool.price.begin(), pool.price.begin() + first);
    pool.grams_begin += static_cast<int>(std::lround(first * step_hours));
  }
  return out;
}

std::vector<double> ForecastGrams(const WorldPool& pool, double hours, int horizon) {
  if (pool.grams.empty()) return {};
  const int now = HourIndex(pool, hours);
  double seen = 0;
  double expected = 0;
  for (int hour = std::max(0, now - kRecentHours + 1); hour <= now; ++hour) {
    seen += pool.grams[hour];
    expected += OfDaysBefore(pool.grams, hour, hour);
  }
  const double level = expected > 0 ? seen / expected : 1;
  std::vector<double> out = {pool.grams[now]};
  for (int ahead = 1; ahead < horizon; ++ahead) {
    const double scale = 1 + (level - 1) * std::exp(-ahead / kLevelFades);
    out.push_back(scale * OfDaysBefore(pool.grams, now + ahead, now));
  }
  return out;
}

}  // namespace rekindle::fleet
