#include "coordinator/core/planning/budget_limits.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "coordinator/core/account/spending.h"

namespace rekindle::core {
namespace {

// Returns what another slot would cost the job where it is dearest, of those slots that it could get now and that
// cost less than `below`. Returns 0 where there is none, or its price is not known.
double HighestPrice(const PlanView& view, const scheduler::Demand& demand, double below) {
  double highest = 0;
  for (size_t g = 0; g < view.groups.size(); ++g) {
    const scheduler::Supply& supply = view.fleet.pools[g];
    if (supply.price >= below || !scheduler::HasDevice(supply, demand)) continue;
    if (!supply.ordered && view.groups[g].free.empty()) continue;
    const bool is_spot = supply.capacity == scheduler::Capacity::kSpot;
    const bool may = is_spot ? demand.spot : demand.on_demand && (!supply.ordered || demand.buys_on_demand);
    if (may) highest = std::max(highest, supply.price);
  }
  return highest;
}

// Returns how many slots the job has already of its minimum in groups of this price. A gang comes together in one
// group.
int HeldFor(const PlanView& view, const JobSlots& slots, const scheduler::Demand& demand, double price) {
  size_t all = slots.at_risk.size(), most = 0;
  for (size_t g = 0; g < slots.held.size(); ++g) {
    all += slots.held[g].size();
    if (view.fleet.pools[g].price == price) most = std::max(most, slots.held[g].size());
  }
  return static_cast<int>(demand.min == demand.max && demand.min > 1 ? most : all);
}

}  // namespace

void LimitToBudget(const Turn& turn, PlanView& view, const JobSlots& slots, scheduler::Demand* demand) {
  size_t held = slots.at_risk.size();
  for (const std::vector<SlotAt>& group : slots.held) held += group.size();
  const double highest = HighestPrice(view, *demand, scheduler::kNever);
  double price = highest;
  int room = RoomForSlots(turn, *slots.job, price);
  // Where its minimum has room only in pools that cost less, the demand is for these alone.
  while (HeldFor(view, slots, *demand, price) + room < demand->min) {
    price = HighestPrice(view, *demand, price);
    if (price <= 0) break;
    room = RoomForSlots(turn, *slots.job, price);
  }
  const bool only_cheaper = price > 0 && price < highest;
  if (only_cheaper) demand->most_price = price;
  // A grant that takes room ends at some time, so that another look is due.
  const double look_at = turn.now + turn.state.tunables.planning_seconds;
  if (only_cheaper) view.look_at = std::min(view.look_at, look_at);
  if (demand->max - static_cast<int>(held) <= room) return;
  const int most = static_cast<int>(held) + room;
  demand->max = std::min(demand->max, most < demand->min ? static_cast<int>(held) : most);
  demand->min = std::min(demand->min, demand->max);
  demand->max_ordered = std::min(demand->max_ordered, demand->max);
  view.look_at = std::min(view.look_at, look_at);
}

}  // namespace rekindle::core
