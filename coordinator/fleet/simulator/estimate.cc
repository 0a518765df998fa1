#include "coordinator/fleet/simulator/estimate.h"

#include <algorithm>
#include <cmath>

#include "coordinator/fleet/simulator/reachable.h"
#include "coordinator/fleet/simulator/synthetic.h"
#include "coordinator/fleet/simulator/trace_world.h"
#include "coordinator/market/goal_words.h"

namespace rekindle::fleet {
namespace {

using scheduler::kNever;

// A job without a deadline gets `kLongest` times the hours of its work as time, and `kAtLeastHours` more.
constexpr double kLongest = 3;
constexpr double kAtLeastHours = 24;
// A step of a synthetic world has `kSyntheticStep` seconds. It is longer where `kSyntheticSteps` steps are too few for
// the job.
constexpr double kSyntheticStep = 300;
constexpr double kSyntheticSteps = 5e4;
// The number of pools times the number of steps, over all worlds together, is at most `kMaxCells`.
constexpr double kMaxCells = 50e6;
// The seeds of two successive synthetic worlds are `kSeedStride` apart. The pools of a world have the seeds that follow
// the seed of their world.
constexpr uint64_t kSeedStride = 1000;

double HoursFor(const FleetJob& job, double least_speed) {
  if (job.deadline < kNever) return job.deadline;
  return kLongest * job.hours / least_speed + kAtLeastHours;
}

Spread Of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {values.front(), median, values.back()};
}

Estimate Summary(const std::vector<PolicyOutcome>& outcomes) {
  Estimate out{.policy = outcomes[0].policy, .meaning = outcomes[0].meaning, .left_out = outcomes[0].left_out};
  out.worlds = static_cast<int>(outcomes.size());
  out.carbon_known = true;
  std::vector<double> cost, finish, interruptions, kg, needs;
  for (const PolicyOutcome& of : outcomes) {
    const Outcome& o = of.outcome;
    out.missed += o.missed;
    out.unfinished += !o.finished;
    out.over_budget += o.over_budget > 0;
    out.carbon_known = out.carbon_known && o.unknown_carbon_hours <= 0;
    if (of.needs > 0) needs.push_back(of.needs);
    if (!o.finished) continue;
    cost.push_back(o.cost);
    finish.push_back(o.finish_hours);
    interruptions.push_back(o.interruptions);
    kg.push_back(o.grams / 1000);
  }
  out.cost = Of(cost);
  out.finish_hours = Of(finish);
  out.interruptions = Of(interruptions);
  out.kg_co2 = Of(kg);
  out.needs = Of(needs);
  return out;
}

}  // namespace

absl::StatusOr<std::vector<Estimate>> EstimateOver(const std::vector<World>& worlds, const FleetJob& job) {
  const std::vector<std::string> policies = {"planner", "on_demand"};
  std::vector<std::vector<PolicyOutcome>> played(policies.size());
  absl::Status why;
  bool any = false;
  for (const World& world : worlds) {
    absl::Status reachable = CheckReachable(world, job);
    any = any || reachable.ok();
    if (!reachable.ok()) why = reachable;
    const auto outcomes = Compare(world, job, policies);
    if (!outcomes.ok()) return outcomes.status();
    for (size_t i = 0; i < policies.size(); ++i) played[i].push_back((*outcomes)[i]);
  }
  if (!any) return why;
  std::vector<Estimate> out;
  for (const auto& outcomes : played) out.push_back(Summary(outcomes));
  return out;
}

std::vector<World> FromSeveralStarts(const World& world, const FleetJob& job, int count) {
  const double cells = static_cast<double>(world.steps) * static_cast<double>(world.pools.size());
  count = static_cast<int>(std::min<double>(count, kMaxCells / cells));
  const int room = world.steps - static_cast<int>(std::ceil(HoursFor(job, LeastSpeed(world.pools)) / world.step_hours));
  if (room < 1 || count < 2) return {world};
  std::vector<World> worlds;
  int before = -1;
  for (int i = 0; i < count; ++i) {
    const int first = static_cast<int>(static_cast<int64_t>(room) * i / (count - 1));
    if (first == before) continue;
    before = first;
    worlds.push_back(world.From(first));
  }
  return worlds;
}

absl::StatusOr<std::vector<World>> SyntheticWorlds(const v1::Fleet& fleet, const FleetJob& job,
                                                   const std::vector<Trace>& carbon, double node_watts, uint64_t seed,
                                                   int count) {
  double least_speed = 1;
  for (const auto& pool : fleet.pools()) least_speed = std::min(least_speed, pool.speed());
  const double hours = std::max(HoursFor(job, least_speed), kAtLeastHours);
  SyntheticOptions options{.zones = 1, .hours = hours};
  options.step_seconds = std::max(kSyntheticStep, std::ceil(hours * 3600 / kSyntheticSteps));
  std::vector<World> worlds;
  for (int i = 0; i < count; ++i) {
    options.seed = (seed + static_cast<uint64_t>(i)) * kSeedStride;
    std::vector<Trace> traces = carbon;
    for (const auto& pool : fleet.pools()) {
      ++options.seed;
      if (core::PoolCapacityOf(pool.capacity()) != core::PoolCapacity::kSpot) continue;
      options.nodes = std::min(pool.max(), job.max);
      options.price = pool.price();
      traces.push_back(SyntheticTrace(options));
      traces.back().zones[0].zone = pool.name();
    }
    auto world = MakeWorld(fleet, traces, node_watts);
    if (!world.ok()) return world.status();
    worlds.push_back(*std::move(world));
  }
  return worlds;
}

}  // namespace rekindle::fleet
