#include "coordinator/fleet/simulator/world.h"

#include <algorithm>
#include <cmath>

#include "coordinator/market/emission_forecast.h"

namespace rekindle::fleet {
namespace {

int HourIndex(const WorldPool& pool, double hours) {
  const int index = pool.grams_begin + static_cast<int>(std::floor(hours + 1e-9));
  return std::clamp(index, 0, static_cast<int>(pool.grams.size()) - 1);
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
  return pool.grams.empty() ? std::vector<double>{}
                            : market::ForecastEmissions(pool.grams, HourIndex(pool, hours), horizon);
}

}  // namespace rekindle::fleet
