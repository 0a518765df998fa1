#include "coordinator/scheduler/level.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace rekindle::scheduler {
namespace {

// Returns the mean speed of the job's units if they fill `pools` in the given order, without the pools slower than
// `least`.
double MeanSpeed(const JobView& job, const std::vector<const PoolView*>& pools, double least) {
  double speeds = 0;
  int placed = 0;
  for (const PoolView* pool : pools) {
    if (pool->speed < least) continue;
    const int room = std::max(pool->available / job.unit_nodes, placed == 0 ? 1 : 0);
    const int units = std::min(static_cast<int>(job.units.size()) - placed, room);
    speeds += units * pool->speed;
    placed += units;
  }
  return placed == 0 ? least : speeds / placed;
}

}  // namespace

bool AreLevel(const std::vector<PoolView>& pools) {
  return std::all_of(pools.begin(), pools.end(), [](const PoolView& pool) { return pool.speed == 1; });
}

double Yardstick(const JobView& job, const std::vector<PoolView>& pools, Allowed allowed, double now) {
  const Capacity wanted = allowed == Allowed::kSpot ? Capacity::kSpot : Capacity::kOnDemand;
  const auto rank = [&](const PoolView* pool) {
    return std::tuple(pool->capacity != wanted, pool->available < job.unit_nodes, pool->price / pool->speed);
  };
  std::vector<const PoolView*> best;
  for (const PoolView& pool : pools) best.push_back(&pool);
  std::sort(best.begin(), best.end(), [&](const PoolView* a, const PoolView* b) { return rank(a) < rank(b); });
  if (best.empty()) return 1;
  std::erase_if(best, [capacity = best[0]->capacity](const PoolView* pool) { return pool->capacity != capacity; });
  std::set<double> speeds;
  for (const PoolView* pool : best) speeds.insert(pool->speed);
  double fastest = 0;
  for (const double least : speeds) {
    const double speed = MeanSpeed(job, best, least);
    if (now + job.hours_left / speed <= job.deadline) return speed;
    fastest = std::max(fastest, speed);
  }
  return fastest;
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

std::vector<Action> PlanOnLevel(const JobView& job, const std::vector<PoolView>& pools, Allowed allowed, double now,
                                const LevelPlan& plan) {
  if (AreLevel(pools)) return plan(job, pools);
  JobView level_job = job;
  std::vector<PoolView> level_pools = pools;
  Level(Yardstick(job, pools, allowed, now), &level_job, &level_pools);
  return plan(level_job, level_pools);
}

}  // namespace rekindle::scheduler
