#include "coordinator/core/planning/goals.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "coordinator/core/account/off_peak.h"
#include "coordinator/core/account/speeds.h"
#include "coordinator/market/goal_words.h"
#include "coordinator/scheduler/level.h"

namespace rekindle::core {
namespace {

// A start is taken to need so many seconds where the job does not say.
constexpr double kStartSeconds = 180;
// A start that has just begun counts as so many hours old.
constexpr double kJustAsked = 1e-6;

// A job that waits for its hours keeps this margin before its deadline.
constexpr double kMarginHours = 0.1;
// A job that runs needs so much more time before its deadline until it waits again.
constexpr double kEaseHours = 0.25;

scheduler::Recovery RecoveryOf(const State& state, const Job& job) {
  const auto& estimate = SpecOf(job).estimate();
  scheduler::Recovery recovery = state.recovery;
  recovery.State((estimate.has_start_seconds() ? estimate.start_seconds() : kStartSeconds) / kHour);
  return recovery;
}

int IndexOf(const std::vector<std::string>& pools, const std::string& pool) {
  // Most units have never left a pool, and do not leave one now.
  if (pool.empty()) return scheduler::kNone;
  const auto at = std::find(pools.begin(), pools.end(), pool);
  return at == pools.end() ? scheduler::kNone : static_cast<int>(at - pools.begin());
}

// Returns the speed of the capacity that would have to save the job's deadline.
double Yardstick(const Turn& turn, const Job& job, double hours_left) {
  const State& state = turn.state;
  scheduler::JobView view;
  view.hours_left = hours_left;
  view.deadline = SpecOf(job).goals().deadline_hours();
  const bool gang = MinWorkers(job) == MaxWorkers(job);
  const int most = std::max(1, MaxWorkers(job));
  view.unit_nodes = gang ? most : 1;
  view.units.resize(gang ? 1 : most);
  std::vector<std::pair<std::string, std::string>> places;
  std::vector<scheduler::PoolView> pools;
  for (const auto& [name, pool] : state.prices.pools) {
    if (!pool.ordered) continue;
    places.emplace_back(name, "");
    pools.push_back({.price = PriceAt(pool.price, UnixNow(turn)) / pool.devices, .available = pool.max * pool.devices});
    if (PoolCapacityOf(pool.capacity) != PoolCapacity::kSpot) pools.back().capacity = scheduler::Capacity::kOnDemand;
  }
  const std::vector<double> speeds = SpeedsOf(state, job, places);
  for (size_t p = 0; p < speeds.size(); ++p) pools[p].speed = speeds[p];
  return scheduler::Yardstick(view, pools, PolicyOf(state, job).capacity, HoursSinceSubmit(turn, job));
}

}  // namespace

bool IsTimely(const Job& job) {
  return SpecOf(job).goals().deadline_hours() > 0 ||
         ObjectiveOf(SpecOf(job).goals().objective()) == scheduler::Objective::kGreenest;
}

scheduler::Policy PolicyOf(const State& state, const Job& job) {
  const v1::JobSpec::Goals& goals = SpecOf(job).goals();
  scheduler::Policy policy;
  policy.objective = ObjectiveOf(goals.objective());
  policy.capacity = AllowedOf(goals.capacity());
  policy.period = state.tunables.planning_seconds / kHour;
  return policy;
}

void SetCapacity(const State& state, const Job& job, scheduler::Demand* demand) {
  const v1::JobSpec::Goals& goals = SpecOf(job).goals();
  const scheduler::Allowed allowed = AllowedOf(goals.capacity());
  demand->spot = allowed != scheduler::Allowed::kOnDemand;
  demand->on_demand = allowed != scheduler::Allowed::kSpot;
  const auto spot = [](const auto& pool) {
    return pool.second.ordered && PoolCapacityOf(pool.second.capacity) == PoolCapacity::kSpot;
  };
  const bool any_spot = std::any_of(state.prices.pools.begin(), state.prices.pools.end(), spot);
  demand->buys_on_demand = !demand->spot || goals.deadline_hours() > 0 ||
                           ObjectiveOf(goals.objective()) == scheduler::Objective::kFastest || !any_spot;
  // Without a limit the job takes all slots that are there, but buys no more than it needs.
  const bool limited = job.record.job().spec().workers().max() > 0 || SpecOf(job).workers().max() > 0;
  demand->max_ordered = limited ? demand->max : demand->min;
  // What a gang has elsewhere must not keep it from coming together in one pool.
  if (demand->min == demand->max && demand->min > 1) demand->max_ordered = scheduler::kUnlimited;
  if (IsHeldBack(job)) demand->max_ordered = static_cast<int>(job.wishes.units.size());
}

bool WaitsForHours(const Turn& turn, const Job& job, std::string* why, double* look_at) {
  const v1::JobSpec::Goals& goals = SpecOf(job).goals();
  if (goals.off_peak().empty()) return false;
  const double now = UnixNow(turn);
  const double edge = NextEdge(goals, now);
  *look_at = turn.now + edge - now;
  if (InWindow(goals, now)) return false;
  if (goals.deadline_hours() > 0) {
    const v1::JobStatus& status = job.record.job().status();
    double left = std::max(0, SpecOf(job).training().steps() - status.step()) * StepHours(turn.state, job);
    left /= Yardstick(turn, job, left);
    const double margin = kMarginHours + (job.record.halt().empty() && job.active ? kEaseHours : 0);
    const double slack =
        goals.deadline_hours() - HoursSinceSubmit(turn, job) - left - RecoveryOf(turn.state, job).Start();
    if (slack <= margin) return false;
    *look_at = std::min(*look_at, turn.now + (slack - margin) * kHour);
  }
  *why = absl::StrCat("waits until ", ClockTime(edge, now), " (off-peak)");
  return true;
}

double HoursSinceSubmit(const Turn& turn, const Job& job) {
  return std::max(0.0, UnixNow(turn) - job.record.job().status().submitted_at()) / kHour;
}

void UpdateView(Turn& turn, Job& job, const std::vector<std::string>& pools) {
  const v1::JobSpec& spec = SpecOf(job);
  scheduler::JobView& view = job.wishes.view;
  if (job.wishes.view_pools != pools || job.wishes.memory == nullptr) {
    // What the job has learned belongs to other pools than now.
    job.wishes.view_pools = pools;
    view.history = scheduler::SpotHistory();
    job.wishes.memory = std::make_shared<scheduler::PlanMemory>();
  }
  const double step = StepHours(turn.state, job);
  view.total_hours = spec.training().steps() * step;
  view.hours_left = std::max(0, spec.training().steps() - job.record.job().status().step()) * step;
  view.deadline = spec.goals().deadline_hours() > 0 ? spec.goals().deadline_hours() : scheduler::kNever;
  view.recovery = RecoveryOf(turn.state, job);
  view.units.clear();
  const Unit* before = nullptr;
  for (const Unit& unit : job.wishes.units) {
    scheduler::UnitView out;
    // Most units are in one pool.
    const bool is_same = before != nullptr && unit.pool == before->pool;
    out.pool = is_same ? view.units.back().pool : IndexOf(pools, unit.pool);
    before = &unit;
    out.last_pool = IndexOf(pools, unit.last_pool);
    out.leaving = IndexOf(pools, unit.leaving);
    const double started = std::max(unit.since, turn.state.started);
    if (!unit.working && !unit.pool.empty()) out.starting_hours = std::max(kJustAsked, (turn.now - started) / kHour);
    view.units.push_back(out);
  }
  if (view.units.empty() || MinWorkers(job) != MaxWorkers(job)) return;
  const auto last = std::max_element(view.units.begin(), view.units.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.pool != scheduler::kNone, a.starting_hours) <
           std::tuple(b.pool != scheduler::kNone, b.starting_hours);
  });
  // A gang is one unit, which works when the last of its nodes does.
  view.units = {*last};
}

}  // namespace rekindle::core
