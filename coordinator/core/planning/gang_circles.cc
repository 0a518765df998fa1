#include "coordinator/core/planning/gang_circles.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace rekindle::core {
namespace {

int Has(const JobSlots& slots, size_t group) { return static_cast<int>(slots.held[group].size()); }

// Returns whether the job is a gang that has to leave slots of ordered pools for others.
bool Moves(const JobSlots& slots, const scheduler::JobPlan& plan, size_t ordered) {
  if (!slots.runs || plan.allotment.slots.empty() || MinWorkers(*slots.job) != MaxWorkers(*slots.job)) return false;
  bool leaves = false;
  for (size_t g = 0; g < ordered; ++g) leaves = leaves || Has(slots, g) > AllottedIn(plan, g);
  return leaves;
}

}  // namespace

int AllottedIn(const scheduler::JobPlan& plan, size_t group) {
  for (const scheduler::Slots& slots : plan.allotment.slots) {
    if (static_cast<size_t>(slots.pool) == group) return slots.count;
  }
  return 0;
}

void StopInCircles(PlanView& view, std::vector<scheduler::JobPlan>& plans) {
  std::vector<size_t> movers;
  // `room` counts the slots of each pool that takes orders, whether their nodes are there or not, less those that
  // moving gangs keep and those that other jobs are allotted.
  std::vector<int> room;
  for (size_t g = 0; g < view.ordered.size(); ++g) room.push_back(view.fleet.pools[g].slots);
  for (size_t j = 0; j < view.jobs.size(); ++j) {
    const bool moves = Moves(view.jobs[j], plans[j], room.size());
    if (moves) movers.push_back(j);
    for (size_t g = 0; g < room.size(); ++g) room[g] -= moves ? Has(view.jobs[j], g) : AllottedIn(plans[j], g);
  }
  const auto take_out = [&](size_t j, bool allotted) {
    for (size_t g = 0; g < room.size(); ++g) room[g] += Has(view.jobs[j], g) - (allotted ? AllottedIn(plans[j], g) : 0);
    movers.erase(std::find(movers.begin(), movers.end(), j));
  };
  while (!movers.empty()) {
    const auto fits = [&](size_t j) {
      bool all = true;
      for (size_t g = 0; g < room.size(); ++g)
        all = all && AllottedIn(plans[j], g) - Has(view.jobs[j], g) <= std::max(0, room[g]);
      return all;
    };
    if (const auto at = std::find_if(movers.begin(), movers.end(), fits); at != movers.end()) {
      take_out(*at, true);
      continue;
    }
    const auto lowest = std::min_element(movers.begin(), movers.end(), [&](size_t a, size_t b) {
      // Where gangs have equal priority, the one that was submitted last stops first.
      const auto rank = [&](size_t j) {
        return std::tuple(plans[j].allotment.taken_by == scheduler::kNone, view.demands[j].demand.priority,
                          -static_cast<int>(j));
      };
      return rank(a) < rank(b);
    });
    const size_t j = *lowest;
    if (plans[j].allotment.taken_by == scheduler::kNone) return;
    take_out(j, false);
    view.jobs[j].circles = true;
    plans[j].allotment.slots.clear();
    plans[j].units.clear();
    plans[j].actions.clear();
  }
}

}  // namespace rekindle::core
