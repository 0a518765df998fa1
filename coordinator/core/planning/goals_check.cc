// Refuses what no plan could reach, when a job is submitted. This uses the simulator's own logic on what the fleet file
// says.
#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "coordinator/core/account/off_peak.h"
#include "coordinator/core/planning/goals.h"
#include "coordinator/core/state/core_state.h"
#include "coordinator/fleet/simulator/job_goals.h"
#include "coordinator/fleet/simulator/reachable.h"
#include "coordinator/market/goal_words.h"

namespace rekindle::core {
namespace {

constexpr double kLeastStepHours = 1.0 / 60;
constexpr double kSteps = 2000;

bool TakesOrders(const PriceBook& book) {
  return std::any_of(book.pools.begin(), book.pools.end(), [](const auto& pool) { return pool.second.ordered; });
}

// Returns a world in which all pools have room. What is impossible with that is impossible.
fleet::World WorldOf(const State& state, const fleet::FleetJob& job, const std::string& device, double unix_now) {
  fleet::World world;
  std::map<double, int> there;  // Nodes by speed.
  for (const auto& [name, node] : state.nodes) {
    const PoolPrices* pool = FindPool(state.prices, node.record.pool());
    const bool ordered = pool != nullptr && pool->ordered;
    if (!device.empty() && node.report.device().kind() != device) continue;
    if (!node.reported || node.lost || node.record.draining() || ordered) continue;
    there[pool == nullptr ? 1 : pool->speed] += node.report.slots();
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

}  // namespace rekindle::core
