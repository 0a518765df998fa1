#include "coordinator/fleet/compare.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/nearest.h"
#include "coordinator/fleet/optimum.h"
#include "coordinator/scheduler/baselines.h"

namespace rekindle::fleet {
namespace {

using scheduler::Capacity;
using scheduler::kNever;

struct Known {
  const char* name;
  const char* meaning;
};
constexpr Known kKnown[] = {
    {"planner", "what Rekindle does"},
    {"on_demand", "on-demand capacity only"},
    {"greedy_spot", "spot in one zone, on demand at the last safe moment"},
    {"next_zone", "spot, the next zone after an interruption, on demand at the last safe moment"},
    {"uniform_progress", "Uniform Progress (Can't Be Late, NSDI 2024) over all zones"},
    {"optimum", "perfect knowledge of the traces"}};

double Supply(const WorldPool& pool, int steps) {
  if (pool.available.size() == 1) return static_cast<double>(pool.available[0]) * steps;
  return std::accumulate(pool.available.begin(), pool.available.end(), 0.0);
}

// The spot pool with most capacity, and all on-demand pools.
World OneZone(const World& world) {
  World out{.step_hours = world.step_hours, .steps = world.steps};
  const WorldPool* best = nullptr;
  for (const WorldPool& pool : world.pools) {
    if (pool.capacity == Capacity::kOnDemand) {
      out.pools.push_back(pool);
    } else if (best == nullptr || Supply(pool, world.steps) > Supply(*best, world.steps)) {
      best = &pool;
    }
  }
  if (best != nullptr) out.pools.insert(out.pools.begin(), *best);
  return out;
}

double LeastCost(const World& world, const SimulatedJob& job) {
  return job.gang() ? GangOptimum(world, job) : ElasticBound(world, job);
}

Outcome Play(const World& world, const SimulatedJob& job, const std::string& policy) {
  if (policy == "planner") {
    scheduler::Planner planner;
    return Simulate(world, job, planner);
  }
  if (policy == "optimum") {
    const double cost = LeastCost(world, job);
    return {.finished = cost < kNever, .missed = cost >= kNever, .cost = cost < kNever ? cost : 0};
  }
  SimulatedJob gang = job;
  gang.min = gang.max;
  std::unique_ptr<scheduler::Strategy> strategy;
  if (policy == "on_demand") strategy = std::make_unique<scheduler::OnDemandOnly>();
  if (policy == "uniform_progress") strategy = std::make_unique<scheduler::UniformProgress>();
  if (!strategy) strategy = std::make_unique<scheduler::NextZone>();
  if (policy == "greedy_spot") return Simulate(OneZone(world), gang, *strategy);
  return Simulate(world, gang, *strategy);
}

// As many nodes as there are at once, whatever they cost.
class Fastest : public scheduler::Strategy {
 public:
  std::vector<scheduler::Action> Plan(const scheduler::JobView& job, const std::vector<scheduler::PoolView>& pools,
                                      const scheduler::Policy&, double) override {
    std::vector<int> used(pools.size(), 0);
    for (const auto& unit : job.units) {
      if (unit.pool != scheduler::kNone) ++used[unit.pool];
    }
    std::vector<scheduler::Action> actions;
    for (size_t u = 0; u < job.units.size(); ++u) {
      if (job.units[u].pool != scheduler::kNone) continue;
      for (size_t p = pools.size(); p-- > 0;) {
        if (used[p] >= pools[p].available / job.unit_nodes) continue;
        ++used[p];
        actions.push_back({static_cast<int>(u), static_cast<int>(p), "as soon as can be"});
        break;
      }
    }
    return actions;
  }
};

}  // namespace

std::vector<std::string> Policies() {
  std::vector<std::string> names;
  for (const Known& known : kKnown) names.emplace_back(known.name);
  return names;
}

absl::StatusOr<std::vector<PolicyOutcome>> Compare(const World& world, const SimulatedJob& job,
                                                   const std::vector<std::string>& names) {
  std::vector<PolicyOutcome> out;
  for (const std::string& name : names.empty() ? Policies() : names) {
    const Known* found =
        std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.name == name; });
    if (found == std::end(kKnown)) {
      const std::string nearest = common::Nearest(name, Policies());
      return absl::InvalidArgumentError(
          absl::StrCat("--policy: '", name, "' is not known; ",
                       nearest.empty() ? "" : absl::StrCat("did you mean '", nearest, "'? "),
                       "known: ", absl::StrJoin(Policies(), ", ")));
    }
    out.push_back({name, found->meaning, Play(world, job, name)});
  }
  return out;
}

absl::Status CheckDeadline(const World& world, const SimulatedJob& job) {
  SimulatedJob unbounded = job;
  unbounded.budget = kNever;
  unbounded.deadline = kNever;
  World on_demand_first = world;
  std::stable_partition(on_demand_first.pools.begin(), on_demand_first.pools.end(),
                        [](const WorldPool& pool) { return pool.capacity == Capacity::kSpot; });
  Fastest fastest;
  const Outcome earliest = Simulate(on_demand_first, unbounded, fastest);
  if (!earliest.finished) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the job cannot finish within the %.1f h of the traces: add pools or longer traces, or ask for less work",
        world.steps * world.step_hours));
  }
  if (earliest.finish_hours > job.deadline) {
    return absl::FailedPreconditionError(
        absl::StrFormat("spec.goals.deadline_hours: %.2f is impossible on this fleet: the earliest finish is after "
                        "%.2f h, for %.2f; allow at "
                        "least that, or add pools or workers",
                        job.deadline, earliest.finish_hours, earliest.cost));
  }
  return absl::OkStatus();
}

absl::Status CheckReachable(const World& world, const SimulatedJob& job) {
  if (absl::Status status = CheckDeadline(world, job); !status.ok()) return status;
  const double least = LeastCost(world, job);
  if (least > job.budget) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "spec.goals.budget: %.2f is too small: even with perfect knowledge the job costs %.2f; allow at least "
        "that, or a later deadline",
        job.budget, least));
  }
  return absl::OkStatus();
}

}  // namespace rekindle::fleet
