#include "coordinator/scheduler/baselines.h"

#include <algorithm>

namespace rekindle::scheduler {
namespace {

constexpr double kRounding = 1e-9;

// Returns the first spot pool with room, in cyclic order from the pool `from` on.
int NextSpot(const JobView& job, const std::vector<PoolView>& pools, int from) {
  const int count = static_cast<int>(pools.size());
  for (int i = 0; i < count; ++i) {
    const int p = (std::max(from, 0) + i) % count;
    if (pools[p].capacity == Capacity::kSpot && pools[p].available >= job.unit_nodes) return p;
  }
  return kNone;
}

int OnDemand(const JobView& job, const std::vector<PoolView>& pools) {
  for (size_t p = 0; p < pools.size(); ++p) {
    if (pools[p].capacity == Capacity::kOnDemand && pools[p].available >= job.unit_nodes) return static_cast<int>(p);
  }
  return kNone;
}

bool On(Capacity capacity, const std::vector<PoolView>& pools, int pool) {
  return pool != kNone && pools[pool].capacity == capacity;
}

std::vector<Action> To(const JobView& job, int pool, const char* reason) {
  if (job.units[0].pool == pool) return {};
  return {{0, pool, reason}};
}

// Returns what is left of a start in progress, judged by its stated length.
double StartLeft(const JobView& job) {
  const double taken = job.units[0].starting_hours;
  return taken > 0 ? std::max(0.0, job.recovery.stated() - taken) : 0;
}

}  // namespace

std::vector<Action> OnDemandOnly::Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy&, double) {
  return To(job, OnDemand(job, pools), "always on demand");
}

std::vector<Action> NextZone::Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy,
                                   double now) {
  const UnitView& unit = job.units[0];
  const double start = job.recovery.stated();
  // `after` is the time that will be left until the deadline at the next planning cycle.
  const double after = job.deadline - now - policy.period;
  const int on_demand = OnDemand(job, pools);
  if (On(Capacity::kOnDemand, pools, unit.pool)) return {};
  if (unit.pool != kNone) {
    const double worked = policy.period - std::min(StartLeft(job), policy.period);
    if (after >= job.hours_left - worked + start - kRounding) return {};
    return To(job, on_demand, "last safe moment");
  }
  const int spot = NextSpot(job, pools, unit.last_pool + 1);
  const double worked = spot == kNone ? 0 : std::max(0.0, policy.period - start);
  if (after >= job.hours_left - worked + start - kRounding) return To(job, spot, "spot capacity");
  return To(job, on_demand, "last safe moment");
}

std::vector<Action> UniformProgress::Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy,
                                          double now) {
  const UnitView& unit = job.units[0];
  if (On(Capacity::kSpot, pools, unit.pool)) return {};
  const double start = job.recovery.stated();
  const double left = job.deadline - now;
  const int on_demand = OnDemand(job, pools);
  if (left < job.hours_left + 2 * start - kRounding || left - policy.period < job.hours_left + start - kRounding) {
    return To(job, on_demand, "safety net");
  }
  const double done = job.total_hours - job.hours_left;
  const double rate = job.total_hours / job.deadline;
  const bool behind = done < rate * now;
  const bool not_ahead = done < rate * (now + 2 * start);
  if (unit.pool != kNone && not_ahead) return {};
  const int spot = NextSpot(job, pools, unit.last_pool);
  if (spot != kNone) return To(job, spot, "spot capacity");
  if (unit.pool == kNone && behind) return To(job, on_demand, "behind uniform progress");
  return To(job, kNone, "ahead of uniform progress");
}

}  // namespace rekindle::scheduler
