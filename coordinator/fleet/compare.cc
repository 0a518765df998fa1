#include "coordinator/fleet/compare.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/nearest.h"
#include "coordinator/fleet/reachable.h"
#include "coordinator/scheduler/baselines.h"
#include "coordinator/scheduler/level.h"

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

constexpr size_t kNamed = 5;  // Pools in a sentence.

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

Outcome PlayPlanner(const World& world, const SimulatedJob& job) {
  scheduler::Planner planner;
  return Simulate(world, job, planner);
}

// Where the budget ends the job, what it would have taken.
void SetNeeds(const World& world, const SimulatedJob& job, PolicyOutcome* of) {
  if (of->outcome.finished || job.budget == kNever) return;
  SimulatedJob unbounded = job;
  unbounded.budget = kNever;
  const Outcome free = PlayPlanner(world, unbounded);
  if (free.finished) of->needs = free.cost;
}

void PlayOptimum(const World& world, const SimulatedJob& job, PolicyOutcome* of) {
  const absl::StatusOr<double> cost = LeastCost(world, job);
  if (!cost.ok()) {
    of->left_out = std::string(cost.status().message());
  } else if (*cost == kNever) {
    of->left_out = "in the steps that it counts in, the job cannot be done in time";
  } else {
    of->outcome = {.finished = true, .cost = *cost};
  }
}

// Today's policies know nothing of speeds: they see hours and prices of equal work.
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

Outcome PlayBaseline(const World& world, const SimulatedJob& job, const std::string& policy) {
  SimulatedJob gang = job;
  gang.min = gang.max;
  std::unique_ptr<scheduler::Strategy> strategy;
  if (policy == "on_demand") strategy = std::make_unique<scheduler::OnDemandOnly>();
  if (policy == "uniform_progress") strategy = std::make_unique<scheduler::UniformProgress>();
  if (!strategy) strategy = std::make_unique<scheduler::NextZone>();
  OnLevelPools level(std::move(strategy));
  return Simulate(policy == "greedy_spot" ? OneZone(world) : world, gang, level);
}

PolicyOutcome Play(const World& world, const SimulatedJob& job, const Known& known) {
  PolicyOutcome of{.policy = known.name, .meaning = known.meaning};
  if (of.policy == "planner") {
    of.outcome = PlayPlanner(world, job);
    SetNeeds(world, job, &of);
  } else if (of.policy == "optimum") {
    PlayOptimum(world, job, &of);
  } else if (std::none_of(world.pools.begin(), world.pools.end(), [&](const WorldPool& pool) {
               return pool.capacity == Capacity::kOnDemand && pool.Available(0) >= job.max;
             })) {
    of.left_out =
        absl::StrCat("no on-demand pool of the fleet has room for ", job.max, job.max == 1 ? " node" : " nodes");
  } else {
    of.outcome = PlayBaseline(world, job, of.policy);
  }
  return of;
}

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
    out.push_back(Play(world, job, *found));
  }
  return out;
}

std::vector<std::string> Caveats(const World& world, const SimulatedJob& job) {
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
