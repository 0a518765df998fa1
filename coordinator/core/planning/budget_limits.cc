#include "coordinator/core/planning/budget_limits.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "coordinator/core/account/spending.h"

namespace rekindle::core {
namespace {

// Returns the highest price of the slots that the job could get now, of those that cost less than `below`. Returns 0
// where there is no such slot, or its price is not known.
double HighestPrice(const PlanView& view, const scheduler::Demand& demand, double below) {
  double highest = 0;
  for (size_t g = 0; g < view.groups.size(); ++g) {
    const scheduler::Supply& supply = view.fleet.pools[g];
    if (supply.price >= below || !scheduler::CanRun(supply, demand)) continue;
    if (!supply.ordered && view.groups[g].free.empty()) continue;
    const bool is_spot = supply.capacity == scheduler::Capacity::kSpot;
    const bool may = is_spot ? demand.spot : demand.on_demand && (!supply.ordered || demand.buys_on_demand);
    if (may) highest = std::max(highest, supply.price);
  }
  return highest;
}

// Returns how many of the job's slots count towards its minimum if the missing ones come from groups of the price
// `price`. A gang must have all of its slots in one group, so only its slots in one group of this price count.
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
  // Where the budget has room for the job's minimum only in pools that cost less, the job demands slots of these pools
  // alone.
  while (HeldFor(view, slots, *demand, price) + room < demand->min) {
    price = HighestPrice(view, *demand, price);
    if (price <= 0) break;
    room = RoomForSlots(turn, *slots.job, price);
  }
  const bool only_cheaper = price > 0 && price < highest;
  if (only_cheaper) demand->most_price = price;
  // Room in the budget may be taken by a spending grant, which ends at some time, so the budget is looked at again
  // then.
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
