#include "coordinator/scheduler/offers.h"

#include <algorithm>
#include <tuple>

#include "coordinator/scheduler/level.h"

namespace rekindle::scheduler {

std::vector<int> SpotSlots(const std::vector<PoolView>& pools, int unit_nodes) {
  std::vector<int> slots;
  for (const PoolView& pool : pools) {
    slots.push_back(pool.capacity == Capacity::kSpot ? pool.available / unit_nodes : -1);
  }
  return slots;
}

Offers::Offers(const JobView& job, const std::vector<PoolView>& pools)
    : job_(job), pools_(pools), used_(pools.size(), 0) {
  // The job's history knows only as many slots of a spot pool as the job has units. More slots would be of no use.
  const int most = static_cast<int>(job.units.size());
  for (const PoolView& pool : pools) {
    const int slots = pool.available / job.unit_nodes;
    slots_.push_back(pool.capacity == Capacity::kSpot ? std::min(slots, most) : slots);
  }
  for (const UnitView& unit : job.units) {
    Move(kNone, unit.pool);
    Move(kNone, unit.leaving);
  }
}

void Offers::Move(int from, int to) {
  if (from != kNone) --used_[from];
  if (to != kNone) ++used_[to];
}

int Offers::UsedSpot() const {
  int units = 0;
  for (size_t p = 0; p < pools_.size(); ++p) units += Spot(static_cast<int>(p)) ? used_[p] : 0;
  return units;
}

int Offers::BestSpot(double premium) const {
  const double limit = (1 + premium) * [&] {
    double lowest = kNever;
    for (size_t p = 0; p < pools_.size(); ++p) {
      if (Spot(p) && HasRoom(p)) lowest = std::min(lowest, pools_[p].price);
    }
    return lowest;
  }();
  int best = kNone;
  std::tuple<double, double, double> best_rank;
  for (int p = 0; p < static_cast<int>(pools_.size()); ++p) {
    if (!Spot(p) || !HasRoom(p) || pools_[p].price > limit) continue;
    const double grams = premium > 0 ? pools_[p].grams : 0;
    const std::tuple rank(grams, pools_[p].price, -job_.history.Hours(p, used_[p]));
    if (best != kNone && rank >= best_rank) continue;
    best = p;
    best_rank = rank;
  }
  return best;
}

int Offers::BestOnDemand(double speed) const {
  const auto rank = [&](int p) { return std::tuple(kAsFast * pools_[p].speed < speed, pools_[p].price); };
  int best = kNone;
  for (int p = 0; p < static_cast<int>(pools_.size()); ++p) {
    if (!OnDemand(p) || !HasRoom(p)) continue;
    if (best == kNone || rank(p) < rank(best)) best = p;
  }
  return best;
}

int Offers::Fastest(Allowed allowed) const {
  // This array maps a capacity to the policy under which that capacity is not allowed.
  const Allowed excluded[] = {Allowed::kOnDemand, Allowed::kSpot};
  std::vector<int> open;
  double fastest = 0;
  for (int p = 0; p < static_cast<int>(pools_.size()); ++p) {
    if (!HasRoom(p) || allowed == excluded[static_cast<int>(pools_[p].capacity)]) continue;
    open.push_back(p);
    fastest = std::max(fastest, pools_[p].speed);
  }
  std::erase_if(open, [&](int p) { return kAsFast * pools_[p].speed < fastest; });
  const auto rank = [&](int p) {
    return std::tuple(OnDemand(p), pools_[p].price, Spot(p) ? -job_.history.Hours(p, used_[p]) : 0);
  };
  const auto best = std::min_element(open.begin(), open.end(), [&](int a, int b) { return rank(a) < rank(b); });
  return best == open.end() ? kNone : *best;
}

bool Offers::AnySpot() const {
  return std::any_of(pools_.begin(), pools_.end(), [](const PoolView& p) { return p.capacity == Capacity::kSpot; });
}

double Offers::LowestPrice(Capacity capacity) const {
  double lowest = kNever;
  for (const PoolView& pool : pools_) {
    if (pool.capacity == capacity) lowest = std::min(lowest, pool.price);
  }
  return lowest == kNever ? 0 : lowest;
}

}  // namespace rekindle::scheduler
