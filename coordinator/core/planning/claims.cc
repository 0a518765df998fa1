#include "coordinator/core/planning/claims.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {
namespace {

int Awaited(const Job& job, const std::string& pool) {
  return static_cast<int>(std::count_if(job.wishes.units.begin(), job.wishes.units.end(),
                                        [&](const Unit& unit) { return unit.pool == pool && !unit.placed; }));
}

// Takes back `excess` claims on slots of the group that were ordered and are not there yet. Jobs of the lowest priority
// lose their claims first, and of equal ones the newest job. The other jobs keep theirs.
void TakeTrainerBack(PlanView& view, int group, int excess) {
  std::vector<size_t> order(view.demands.size());
  std::iota(order.rbegin(), order.rend(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return view.demands[a].demand.priority < view.demands[b].demand.priority;
  });
  for (const size_t j : order) {
    scheduler::Demand& demand = view.demands[j].demand;
    const Job& job = *view.jobs[j].job;
    for (scheduler::Slots& held : demand.held) {
      if (held.pool != group) continue;
      const int less = std::min({excess, held.count, Awaited(job, view.groups[group].pool)});
      held.count -= less;
      excess -= less;
      if (less > 0) demand.firm = view.jobs[j].runs || scheduler::CountSlots(demand.held) >= demand.min;
    }
    std::erase_if(demand.held, [](const scheduler::Slots& held) { return held.count == 0; });
    if (excess == 0) return;
  }
}

}  // namespace

void LimitClaims(PlanView& view) {
  std::vector<int> claimed(view.ordered.size(), 0);
  for (const scheduler::CycleJob& job : view.demands) {
    for (const scheduler::Slots& held : job.demand.held) {
      if (static_cast<size_t>(held.pool) < claimed.size()) claimed[held.pool] += held.count;
    }
  }
  for (size_t g = 0; g < claimed.size(); ++g) {
    const int excess = claimed[g] - view.fleet.pools[g].slots;
    if (excess > 0) TakeTrainerBack(view, static_cast<int>(g), excess);
  }
}

std::vector<int> CountLeaving(const PlanView& view) {
  std::vector<int> leaving(view.ordered.size(), 0);
  for (const JobSlots& slots : view.jobs) {
    const Job& job = *slots.job;
    const bool all = slots.leaves || !job.record.halt().empty();
    for (const Unit& unit : job.wishes.units) {
      // When a unit of the job has moved to its new pool, it leaves its slot in the old one.
      if (all || unit.leaving.empty()) continue;
      for (size_t g = 0; g < leaving.size(); ++g) leaving[g] += unit.leaving == view.pool_names[g];
    }
    if (!all && job.giving_up.empty()) continue;
    for (size_t g = 0; g < leaving.size(); ++g) {
      for (const SlotAt& at : slots.held[g]) {
        leaving[g] += Serves(*at.node, at.slot, job) && (all || job.giving_up.count(NameOf(at)) > 0);
      }
    }
  }
  return leaving;
}

bool CanTake(const JobSlots& above, const JobSlots& below, const std::vector<int>& leaving) {
  bool of_its_slots = false, waits = false;
  for (const scheduler::Slots& s : above.missing) {
    of_its_slots = of_its_slots || !below.held[s.pool].empty();
    waits = waits || (static_cast<size_t>(s.pool) < leaving.size() && s.count > leaving[s.pool]);
  }
  return !of_its_slots || !waits;
}

}  // namespace rekindle::core
