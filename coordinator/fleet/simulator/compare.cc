#include "coordinator/fleet/simulator/compare.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/nearest.h"
#include "coordinator/fleet/simulator/reachable.h"
#include "coordinator/scheduler/baselines.h"
#include "coordinator/scheduler/level.h"

namespace rekindle::fleet {
namespace {

using scheduler::Capacity;
using scheduler::kNever;

// The sentence about pools whose emissions are not known names at most `kNamed` of these pools.
constexpr size_t kNamed = 5;

double Supply(const WorldPool& pool, int steps) {
  if (pool.available.size() == 1) return static_cast<double>(pool.available[0]) * steps;
  return std::accumulate(pool.available.begin(), pool.available.end(), 0.0);
}

// Returns the world with only one of its spot pools, the one that has the most capacity, and with all its on-demand
// pools.
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

Outcome SimulatePlanner(const World& world, const FleetJob& job) {
  scheduler::Planner planner;
  return Simulate(world, job, planner);
}

// If the budget ends the job, sets `needs` to what the job would have cost without a budget.
void SetNeeds(const World& world, const FleetJob& job, PolicyOutcome* of) {
  if (of->outcome.finished || job.budget == kNever) return;
  FleetJob unbounded = job;
  unbounded.budget = kNever;
  const Outcome free = SimulatePlanner(world, unbounded);
  if (free.finished) of->needs = free.cost;
}

void PlayPlanner(const World& world, const FleetJob& job, PolicyOutcome* of) {
  of->outcome = SimulatePlanner(world, job);
  SetNeeds(world, job, of);
}

void PlayOptimum(const World& world, const FleetJob& job, PolicyOutcome* of) {
  const absl::StatusOr<double> cost = LeastCost(world, job);
  if (!cost.ok()) {
    of->left_out = std::string(cost.status().message());
  } else if (*cost == kNever) {
    of->left_out = "in the steps that it counts in, the job cannot be done in time";
  } else {
    of->outcome = {.finished = true, .cost = *cost};
  }
}

// The usual policies, with which the planner is compared, ignore the speeds of pools. So OnLevelPools gives them hours
// and prices that are converted to nodes of equal speed.
class OnLevelPools : public scheduler::Strategy {
 public:
  explicit OnLevelPools(std::unique_ptr<Strategy> strategy) : strategy_(std::move(strategy)) {}
  std::vector<scheduler::Action> Plan(const scheduler::JobView& job, const std::vector<scheduler::PoolView>& pools,
                                      const scheduler::Policy& policy, double now) override {
    return scheduler::PlanOnLevel(job, pools, scheduler::Allowed::kMixed, now,
                                  [&](const auto& level_job, const auto& level_pools) {
                                    return strategy_->Plan(level_job, level_pools, policy, now);
                                  });
  }

 private:
  const std::unique_ptr<Strategy> strategy_;
};

// Today's policies, with which the planner is compared, need the whole gang at once, and on-demand nodes to fall back
// to.
template <typename Strategy>
void PlayGang(const World& world, const FleetJob& job, PolicyOutcome* of) {
  const bool has_room = std::any_of(world.pools.begin(), world.pools.end(), [&](const WorldPool& pool) {
    return pool.capacity == Capacity::kOnDemand && pool.Available(0) >= job.max;
  });
  if (!has_room) {
    of->left_out =
        absl::StrCat("no on-demand pool of the fleet has room for ", job.max, job.max == 1 ? " node" : " nodes");
    return;
  }
  FleetJob gang = job;
  gang.min = gang.max;
  OnLevelPools level(std::make_unique<Strategy>());
  of->outcome = Simulate(world, gang, level);
}

void PlayGreedySpot(const World& world, const FleetJob& job, PolicyOutcome* of) {
  PlayGang<scheduler::NextZone>(OneZone(world), job, of);
}

struct Known {
  const char* name;
  const char* meaning;
  void (*play)(const World&, const FleetJob&, PolicyOutcome*);
};
constexpr Known kKnown[] = {
    {"planner", "what Rekindle does", PlayPlanner},
    {"on_demand", "on-demand capacity only", PlayGang<scheduler::OnDemandOnly>},
    {"greedy_spot", "spot in one zone, on demand at the last safe moment", PlayGreedySpot},
    {"next_zone", "spot, the next zone after an interruption, on demand at the last safe moment",
     PlayGang<scheduler::NextZone>},
    {"uniform_progress", "Uniform Progress (Can't Be Late, NSDI 2024) over all zones",
     PlayGang<scheduler::UniformProgress>},
    {"optimum", "perfect knowledge of the traces", PlayOptimum}};

}  // namespace

std::vector<std::string> Policies() {
  std::vector<std::string> names;
  for (const Known& known : kKnown) names.emplace_back(known.name);
  return names;
}

absl::StatusOr<std::vector<PolicyOutcome>> Compare(const World& world, const FleetJob& job,
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
    out.push_back({.policy = found->name, .meaning = found->meaning});
    found->play(world, job, &out.back());
  }
  return out;
}

std::vector<std::string> Caveats(const World& world, const FleetJob& job) {
  std::vector<std::string> unknown;
  for (const WorldPool& pool : world.pools) {
    if (pool.grams.empty()) unknown.push_back(pool.name);
  }
  const bool greenest = job.policy.objective == scheduler::Objective::kGreenest;
  if (unknown.size() == world.pools.size()) {
    if (!greenest) return {};
    return {
        "spec.goals.objective is greenest, but of no pool is known what it emits, so cost alone decides: give pools "
        "a carbon_region, and its trace"};
  }
  if (unknown.empty()) return {};
  if (unknown.size() > kNamed) {
    const std::string more = absl::StrCat(unknown.size() - kNamed, " more");
    unknown.resize(kNamed);
    unknown.push_back(more);
  }
  return {absl::StrCat("what these pools emit is not known, and not in the figures: ", absl::StrJoin(unknown, ", "),
                       greenest ? "; the planner takes them for as dirty as the dirtiest that is known" : "")};
}

}  // namespace rekindle::fleet
