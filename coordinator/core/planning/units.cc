#include "coordinator/core/planning/units.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace rekindle::core {
namespace {

// Sets `mark` in `count` units of a pool, first in those that have it already, and clears it in the others.
void Mark(std::vector<Unit*>& units, bool Unit::*mark, int count, const auto& on_news) {
  for (const bool before : {true, false}) {
    for (Unit* unit : units) {
      if (unit->*mark != before) continue;
      const bool now = count > 0;
      if (now) --count;
      if (now && !before) on_news(*unit);
      unit->*mark = now;
      if (!before && !now) return;
    }
  }
}

// Takes its node away from a unit, because the node does not come or is gone. A unit that was moving, and still works
// in the pool that it was leaving, stays there.
void Lose(Unit& unit, const std::string& last_pool) {
  if (unit.leaving.empty()) {
    unit = Unit{.last_pool = last_pool};
  } else {
    unit = Unit{.pool = unit.leaving, .placed = true, .arrived = true, .working = true};
  }
}

// Moves a gang as a whole, because either all of its nodes work or none does. It leaves its old pool only when all of
// it has arrived in the new one.
void MoveAsOne(Job& job) {
  const auto moves = [](const Unit& unit) { return !unit.leaving.empty(); };
  if (std::none_of(job.wishes.units.begin(), job.wishes.units.end(), moves)) return;
  const bool whole = std::all_of(job.wishes.units.begin(), job.wishes.units.end(),
                                 [&](const Unit& unit) { return unit.pool == job.wishes.units.front().pool; });
  const bool arrived =
      std::all_of(job.wishes.units.begin(), job.wishes.units.end(), [](const Unit& unit) { return unit.arrived; });
  for (Unit& unit : job.wishes.units) {
    if (!whole && moves(unit)) Lose(unit, "");
    if (whole && arrived) unit.leaving.clear();
  }
}

// Orders units so that those that work come first.
bool ComesBefore(const Unit& a, const Unit& b) {
  return std::tuple(a.working, a.arrived, a.placed) > std::tuple(b.working, b.arrived, b.placed);
}

bool IsOf(const Unit& unit, const scheduler::UnitView& view, const std::vector<std::string>& pools) {
  return unit.pool == pools[view.pool] &&
         (view.leaving == scheduler::kNone ? unit.leaving.empty() : unit.leaving == pools[view.leaving]);
}

// Returns whether the job's units are those of the plan, in its order. That is so in most cycles, and comparing the
// units costs less than copying all of them.
bool AreTaken(const Job& job, const scheduler::JobPlan& plan, const std::vector<std::string>& pools, int unit_nodes) {
  auto unit = job.wishes.units.begin();
  for (const scheduler::UnitView& view : plan.units) {
    for (int node = 0; view.pool != scheduler::kNone && node < unit_nodes; ++node, ++unit) {
      if (unit == job.wishes.units.end() || !IsOf(*unit, view, pools)) return false;
    }
  }
  return unit == job.wishes.units.end() &&
         std::is_sorted(job.wishes.units.begin(), job.wishes.units.end(), ComesBefore);
}

void OrderUnits(Turn& turn, Job& job, const scheduler::JobPlan& plan, const std::vector<std::string>& pools,
                int unit_nodes) {
  const std::vector<Unit> before = std::exchange(job.wishes.units, {});
  job.wishes.units.reserve(before.size());
  // Sorts pointers to the units and not the units, because a sort moves what it sorts, and a unit is larger.
  std::vector<const Unit*> left;
  for (const Unit& unit : before) left.push_back(&unit);
  std::stable_sort(left.begin(), left.end(), [](const Unit* a, const Unit* b) { return ComesBefore(*a, *b); });
  for (const scheduler::UnitView& view : plan.units) {
    for (int node = 0; view.pool != scheduler::kNone && node < unit_nodes; ++node) {
      const auto same =
          std::find_if(left.begin(), left.end(), [&](const Unit* unit) { return IsOf(*unit, view, pools); });
      if (same == left.end()) {
        const std::string leaving = view.leaving == scheduler::kNone ? "" : pools[view.leaving];
        job.wishes.units.push_back({.pool = pools[view.pool], .since = turn.now, .leaving = leaving});
        continue;
      }
      job.wishes.units.push_back(**same);
      left.erase(same);
    }
  }
}

// Returns whether all units work where they were ordered, and the job has no other slots. That is so in most cycles.
bool AllWork(const Job& job, const std::map<std::string, PoolCount>& counts) {
  const auto works = [](const Unit& unit) {
    return unit.placed && unit.arrived && unit.working && unit.leaving.empty();
  };
  if (!std::all_of(job.wishes.units.begin(), job.wishes.units.end(), works)) return false;
  size_t all = 0;
  for (const auto& [pool, count] : counts) {
    const auto there =
        std::count_if(job.wishes.units.begin(), job.wishes.units.end(), [&](const Unit& u) { return u.pool == pool; });
    if (there != count.held || there != count.arrived || there != count.working) return false;
    all += static_cast<size_t>(there);
  }
  return all == job.wishes.units.size();
}

}  // namespace

bool IsStepping(const Job& job) { return job.active && job.completed_at >= job.formed_at; }

void SyncUnits(Turn& turn, Job& job, const std::map<std::string, PoolCount>& counts) {
  if (AllWork(job, counts)) return;
  const bool gang = MinWorkers(job) == MaxWorkers(job);
  std::map<std::string, std::vector<Unit*>> by_pool;
  // `kept` counts for each pool the slots that units still need there until they have moved elsewhere.
  std::map<std::string, int> kept;
  for (Unit& unit : job.wishes.units) {
    if (!unit.pool.empty()) by_pool[unit.pool].push_back(&unit);
    if (unit.leaving.empty()) continue;
    const auto old = counts.find(unit.leaving);
    const int there = old == counts.end() ? 0 : old->second.held;
    if (kept[unit.leaving] < there) {
      ++kept[unit.leaving];
    } else {
      // The unit was to keep its slot in the old pool until it had moved, but the job has lost that slot or given it
      // up.
      unit.leaving.clear();
    }
  }
  for (const auto& [pool, count] : counts) by_pool[pool];
  std::vector<Unit> found;
  for (auto& [pool, units] : by_pool) {
    const auto at = counts.find(pool);
    const PoolCount count = at == counts.end() ? PoolCount{} : at->second;
    const int held = std::max(0, count.held - kept[pool]);
    std::vector<Unit*> had;
    std::copy_if(units.begin(), units.end(), std::back_inserter(had), [](Unit* unit) { return unit->placed; });
    std::stable_sort(units.begin(), units.end(), [](Unit* a, Unit* b) { return a->working > b->working; });
    Mark(units, &Unit::placed, held, [](Unit&) {});
    for (Unit* unit : had) {
      if (!unit->placed) Lose(*unit, pool);
    }
    std::erase_if(units, [&, &pool = pool](Unit* unit) { return unit->pool != pool; });
    Mark(units, &Unit::arrived, count.arrived, [&](Unit& unit) {
      if (!gang) unit.leaving.clear();
    });
    Mark(units, &Unit::working, count.working, [&](Unit& unit) {
      if (unit.since > -kNever) turn.state.recovery.Started((turn.now - unit.since) / kHour);
    });
    for (int more = held - static_cast<int>(units.size()); more > 0; --more) {
      // After a restart of the coordinator, the job still holds its earlier slots, but may have no units for them. Then
      // each such slot becomes a unit.
      found.push_back({.pool = pool, .placed = true, .working = count.working > 0});
    }
    const auto state = turn.state.pools.find(pool);
    if (state == turn.state.pools.end()) continue;
    if (!state->second.avoided && state->second.not_ours_since == kNever) continue;
    for (Unit* unit : units) {
      if (!unit->placed) Lose(*unit, "");
    }
  }
  if (gang) MoveAsOne(job);
  const auto known = static_cast<size_t>(std::count_if(job.wishes.units.begin(), job.wishes.units.end(),
                                                       [](const Unit& unit) { return !unit.pool.empty(); }));
  const auto most = static_cast<size_t>(MaxWorkers(job));
  // Slots beyond the job's highest number of workers are no units, because the job was about to leave them.
  if (known + found.size() > most) found.resize(most - std::min(most, known));
  job.wishes.units.insert(job.wishes.units.end(), found.begin(), found.end());
}

void TakeUnits(Turn& turn, Job& job, const scheduler::JobPlan& plan, const std::vector<std::string>& pools,
               int unit_nodes) {
  if (!AreTaken(job, plan, pools, unit_nodes)) OrderUnits(turn, job, plan, pools, unit_nodes);
  auto* saved = job.record.mutable_units();
  const auto same = [](const v1::JobRecord::PlannedUnit& a, const Unit& b) {
    return a.pool() == b.pool && a.placed() == b.placed && a.leaving() == b.leaving;
  };
  if (static_cast<size_t>(saved->size()) == job.wishes.units.size() &&
      std::equal(saved->begin(), saved->end(), job.wishes.units.begin(), same)) {
    return;
  }
  saved->Clear();
  for (const Unit& unit : job.wishes.units) {
    v1::JobRecord::PlannedUnit* out = saved->Add();
    out->set_pool(unit.pool);
    out->set_placed(unit.placed);
    out->set_leaving(unit.leaving);
  }
  turn.Save(job);
}

}  // namespace rekindle::core
