#include "coordinator/scheduler/level.h"

#include <algorithm>
#include <tuple>

namespace rekindle::scheduler {

bool AreLevel(const std::vector<PoolView>& pools) {
  return std::all_of(pools.begin(), pools.end(), [](const PoolView& pool) { return pool.speed == 1; });
}

double Yardstick(const JobView& job, const std::vector<PoolView>& pools, Allowed allowed) {
  const Capacity wanted = allowed == Allowed::kSpot ? Capacity::kSpot : Capacity::kOnDemand;
  const auto rank = [&](const PoolView& pool) {
    return std::tuple(pool.capacity != wanted, pool.available < job.unit_nodes, pool.price / pool.speed);
  };
  const auto best = std::min_element(pools.begin(), pools.end(),
                                     [&](const PoolView& a, const PoolView& b) { return rank(a) < rank(b); });
  return best == pools.end() ? 1 : best->speed;
}

void Level(double yardstick, JobView* job, std::vector<PoolView>* pools) {
  job->total_hours /= yardstick;
  job->hours_left /= yardstick;
  for (PoolView& pool : *pools) {
    pool.speed /= yardstick;
    pool.price /= pool.speed;
    pool.grams /= pool.speed;
    for (double& grams : pool.expected_grams) grams /= pool.speed;
  }
}

}  // namespace rekindle::scheduler
