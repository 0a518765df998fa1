#include "coordinator/core/planning/goals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "coordinator/core/account/off_peak.h"
#include "coordinator/core/account/speeds.h"
#include "coordinator/fleet/simulator/job_goals.h"
#include "coordinator/fleet/simulator/reachable.h"
#include "coordinator/market/goal_words.h"
#include "coordinator/scheduler/level.h"

namespace rekindle::core {
namespace {

// A trainer's start is assumed to take this many seconds where the job's spec does not say.
constexpr double kStartSeconds = 180;
// The start of a unit that was ordered just now counts as this many hours old, because an age of 0 would say that the
// unit works already.
constexpr double kJustAsked = 1e-6;

// A job that waits for its off-peak hours keeps this margin, in hours, before its deadline.
constexpr double kMarginHours = 0.1;
// A job that runs waits for its off-peak hours only if it has this many hours more before its deadline.
constexpr double kEaseHours = 0.25;

// The goals of a submitted job are tried in a simulated world of at most about `kSteps` steps, none of which is shorter
// than `kLeastStepHours`.
constexpr double kLeastStepHours = 1.0 / 60;
constexpr double kSteps = 2000;

scheduler::Recovery RecoveryOf(const State& state, const Job& job) {
  const auto& estimate = SpecOf(job).estimate();
  scheduler::Recovery recovery = state.recovery;
  recovery.State((estimate.has_start_seconds() ? estimate.start_seconds() : kStartSeconds) / kHour);
  return recovery;
}

int IndexOf(const std::vector<std::string>& pools, const std::string& pool) {
  // An empty name is answered at once, to save time. Most calls ask for the pool that a unit leaves or was interrupted
  // in, and most units have no such pool, so that its name is empty.
  if (pool.empty()) return scheduler::kNone;
  const auto at = std::find(pools.begin(), pools.end(), pool);
  return at == pools.end() ? scheduler::kNone : static_cast<int>(at - pools.begin());
}

// Returns the speed of the nodes that would have to save the job's deadline, which are on-demand ones where the job may
// have such (scheduler/level.h).
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

bool TakesOrders(const PriceBook& book) {
  return std::any_of(book.pools.begin(), book.pools.end(), [](const auto& pool) { return pool.second.ordered; });
}

// Returns a simulated world in which all pools have room. Goals that cannot be reached there cannot be reached at all.
fleet::World WorldOf(const State& state, const fleet::FleetJob& job, const std::string& device, double unix_now) {
  fleet::World world;
  // `there` maps the speeds of nodes to how many slots the nodes of that speed have.
  std::map<double, int> there;
  for (const auto& [name, node] : state.nodes) {
    const PoolPrices* pool = FindPool(state.prices, node.record.pool());
    const bool ordered = pool != nullptr && pool->ordered;
    if (!device.empty() && node.report.device().kind() != device) continue;
    if (!node.reported || node.lost || node.record.draining() || ordered) continue;
    there[pool == nullptr ? 1 : pool->speed] += UsableSlots(node.report);
  }
  for (const auto& [speed, slots] : there) {
    world.pools.push_back({"", scheduler::Capacity::kOnDemand, speed, {slots}, {0}});
  }
  for (const auto& [name, pool] : state.prices.pools) {
    if (!pool.ordered || (!device.empty() && pool.device != device)) continue;
    const bool spot = PoolCapacityOf(pool.capacity) == PoolCapacity::kSpot;
    if (job.policy.capacity == (spot ? scheduler::Allowed::kOnDemand : scheduler::Allowed::kSpot)) continue;
    world.pools.push_back({name,
                           spot ? scheduler::Capacity::kSpot : scheduler::Capacity::kOnDemand,
                           pool.speed,
                           {pool.max * pool.devices},
                           {PriceAt(pool.price, unix_now) / pool.devices}});
  }
  const double longest = 2 * (job.hours * job.max / job.min / fleet::LeastSpeed(world.pools) + job.start_hours) + 1;
  world.step_hours = std::max(kLeastStepHours, longest / kSteps);
  world.steps = static_cast<int>(std::ceil(longest / world.step_hours)) + 1;
  return world;
}

}  // namespace

absl::Status CheckGoals(const State& state, const v1::JobSpec& spec, double unix_now) {
  const v1::JobSpec::Goals& goals = spec.goals();
  if (absl::Status status = CheckOffPeak(goals); !status.ok()) return status;
  const std::pair<const char*, bool> of_pools[] = {{"objective", !goals.objective().empty()},
                                                   {"capacity", !goals.capacity().empty()},
                                                   {"deadline_hours", goals.deadline_hours() != 0}};
  for (const auto& [field, given] : of_pools) {
    if (!given || !state.prices.pools.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "spec.goals.", field,
        ": there are no pools to plan on: start the coordinator with --fleet FILE (docs/fleet.md), or remove it"));
  }
  if (goals.deadline_hours() < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("spec.goals.deadline_hours: ", goals.deadline_hours(), " h from now is in the past"));
  }
  if (goals.deadline_hours() == 0) return absl::OkStatus();
  if (!TakesOrders(state.prices)) {
    return absl::InvalidArgumentError(
        "spec.goals.deadline_hours: no pool of the fleet file takes orders, so nobody could keep it: give one a "
        "provider's settings (docs/fleet.md), or remove it");
  }
  const absl::StatusOr<fleet::FleetJob> job = fleet::ResolveGoals(spec);
  if (!job.ok()) return job.status();
  const fleet::World world = WorldOf(state, *job, spec.workers().device(), unix_now);
  int most = 0;
  for (const fleet::WorldPool& pool : world.pools) {
    most = job->gang() ? std::max(most, pool.available[0]) : most + pool.available[0];
  }
  if (most < job->min) {
    return absl::FailedPreconditionError(absl::StrCat(
        "spec.workers.min: ", job->min, job->gang() ? " in one pool are" : " are", " more than the fleet's ", most,
        " nodes of that capacity: ask for fewer, or raise max of a pool"));
  }
  return fleet::CheckDeadline(world, *job);
}

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
  // A job without a maximum of workers takes all slots that are there, but buys no more than it needs.
  const bool limited = job.record.job().spec().workers().max() > 0 || SpecOf(job).workers().max() > 0;
  demand->max_ordered = limited ? demand->max : demand->min;
  // The slots that a gang has in other pools must not keep it from getting all of its slots in one pool.
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
    // What the planner has learned of the job is about other pools than there are now, so the planner begins anew.
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
    // Most units of a job are in one pool, so the pool of the preceding unit is tried first.
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
  // The planner sees a gang as one unit, which works when the last of the gang's nodes does.
  view.units = {*last};
}

}  // namespace rekindle::core
