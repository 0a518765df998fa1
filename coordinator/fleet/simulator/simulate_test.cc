// These tests check properties of the simulator and the planner over seeded synthetic traces. REKINDLE_FLEET_SEED=N
// plays one seed.
#include "coordinator/fleet/simulator/simulate.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "coordinator/fleet/simulator/optimum.h"
#include "coordinator/fleet/simulator/reachable.h"
#include "coordinator/fleet/simulator/synthetic.h"
#include "coordinator/scheduler/baselines.h"

namespace rekindle::fleet {
namespace {

constexpr double kOnDemand = 3;

std::vector<uint64_t> Seeds(int count) {
  if (const char* seed = std::getenv("REKINDLE_FLEET_SEED")) return {std::strtoull(seed, nullptr, 10)};
  std::vector<uint64_t> seeds;
  for (int i = 1; i <= count; ++i) seeds.push_back(i);
  return seeds;
}

World MakeWorld(const SyntheticOptions& options) {
  const Trace trace = SyntheticTrace(options);
  World world{.step_hours = trace.step_seconds / 3600, .steps = static_cast<int>(trace.zones[0].nodes.size())};
  for (const ZoneTrace& zone : trace.zones) {
    world.pools.push_back({.name = zone.zone, .available = zone.nodes, .price = zone.prices});
  }
  world.pools.push_back(
      {.name = "on-demand", .capacity = scheduler::Capacity::kOnDemand, .available = {1000}, .price = {kOnDemand}});
  return world;
}

// Returns a job whose deadline and start depend on the seed.
FleetJob MakeJob(uint64_t seed, bool elastic) {
  FleetJob job{.hours = 10, .max = elastic ? 6 : 1};
  job.deadline = job.hours * (1.15 + 0.1 * static_cast<double>(seed % 5));
  job.start_hours = 0.02 * static_cast<double>(1 + seed % 7);
  job.pause_hours = elastic ? 0.001 : 0;
  return job;
}

TEST(Property, NoDeadlineIsMissedWhereTheMarginHolds) {
  for (const uint64_t seed : Seeds(30)) {
    for (const bool elastic : {false, true}) {
      const World world = MakeWorld({.seed = seed, .zones = 2, .nodes = elastic ? 6 : 1, .hours = 60});
      const FleetJob job = MakeJob(seed, elastic);
      scheduler::Planner planner;
      for (const double factor : {1.0, 2.0}) {
        const Outcome out = Simulate(world, job, planner, {.start_factor = factor});
        EXPECT_FALSE(out.missed) << "seed " << seed << (elastic ? ", elastic" : "") << ", starts x" << factor;
      }
    }
  }
}

TEST(Property, NoDeadlineIsMissedWherePoolsDifferInSpeed) {
  for (const uint64_t seed : Seeds(30)) {
    for (const bool elastic : {false, true}) {
      World world = MakeWorld({.seed = seed, .zones = 2, .nodes = elastic ? 6 : 1, .hours = 60});
      world.pools[0].speed = 0.3 + 0.15 * static_cast<double>(seed % 7);
      world.pools[1].speed = 0.5 + 0.5 * static_cast<double>(seed % 5);
      world.pools[2].speed = 0.5 + 0.25 * static_cast<double>(seed % 4);
      world.pools.push_back({.name = "few",
                             .capacity = scheduler::Capacity::kOnDemand,
                             .speed = 0.25 * static_cast<double>(1 + seed % 6),
                             .available = {2},
                             .price = {0.5 + 0.5 * static_cast<double>(seed % 8)}});
      FleetJob job = MakeJob(seed, elastic);
      // The job's deadline is adjusted to the speed of the on-demand pool, so that on-demand capacity alone can keep
      // it.
      job.deadline /= world.pools[2].speed;
      scheduler::Planner planner;
      const Outcome out = Simulate(world, job, planner, {.start_factor = 2});
      EXPECT_FALSE(out.missed) << "seed " << seed << (elastic ? ", elastic" : "");
      EXPECT_GE(out.finish_hours, EarliestFinish(world, job).hours - 1e-6) << "seed " << seed;
      // The bound of the cost of an elastic job holds for a gang, too.
      EXPECT_GE(out.cost, *ElasticBound(world, job) - 1e-6) << "seed " << seed;
    }
  }
}

TEST(Property, NoBudgetIsOverspent) {
  for (const uint64_t seed : Seeds(30)) {
    World world = MakeWorld({.seed = seed, .zones = 2, .nodes = 6, .hours = 60});
    world.pools[0].speed = 0.5 * static_cast<double>(1 + seed % 4);
    FleetJob job = MakeJob(seed, true);
    job.budget = job.hours * job.max * (0.3 + 0.2 * static_cast<double>(seed % 6));
    if (seed % 3 == 0) job.policy.objective = scheduler::Objective::kFastest;
    scheduler::Planner planner;
    const Outcome out = Simulate(world, job, planner);
    EXPECT_LE(out.over_budget, world.step_hours * job.max * kOnDemand) << "seed " << seed;
    EXPECT_NEAR(out.useful_hours + out.start_hours, out.spot_hours + out.on_demand_hours, 1e-6) << "seed " << seed;
  }
}

TEST(Property, NothingIsCheaperThanTheOptimum) {
  for (const uint64_t seed : Seeds(15)) {
    const World world = MakeWorld({.seed = seed, .zones = 3, .hours = 40});
    const FleetJob job = MakeJob(seed, false);
    scheduler::Planner planner;
    const double cost = Simulate(world, job, planner).cost;
    // The optimum counts work in eighths of a step, so it may be a little above the cost of a real plan.
    EXPECT_GE(cost, 0.99 * *GangOptimum(world, job)) << "seed " << seed;
    EXPECT_GE(cost, *ElasticBound(world, job)) << "seed " << seed;
  }
}

TEST(Property, NoPlanIsEarlierThanTheEarliestFinish) {
  for (const uint64_t seed : Seeds(15)) {
    for (const bool elastic : {false, true}) {
      const World world = MakeWorld({.seed = seed, .zones = 3, .nodes = elastic ? 6 : 1, .hours = 60});
      FleetJob job = MakeJob(seed, elastic);
      job.policy.capacity = seed % 2 == 0 ? scheduler::Allowed::kSpot : scheduler::Allowed::kMixed;
      scheduler::Planner planner;
      const Outcome out = Simulate(world, job, planner);
      const Finish earliest = EarliestFinish(world, job);
      ASSERT_TRUE(out.finished) << "seed " << seed;
      EXPECT_LE(earliest.hours, out.finish_hours + 1e-9) << "seed " << seed << (elastic ? ", elastic" : "");
      EXPECT_GE(earliest.hours, job.hours + job.start_hours - 1e-9) << "seed " << seed;
    }
  }
}

TEST(Property, PlanningIsPure) {
  const World world = MakeWorld({.seed = 3, .zones = 3, .hours = 40});
  const FleetJob job = MakeJob(3, false);
  scheduler::Planner used;
  for (const uint64_t seed : Seeds(5)) Simulate(world, MakeJob(seed, false), used);
  scheduler::Planner fresh;
  const Outcome a = Simulate(world, job, used);
  const Outcome b = Simulate(world, job, fresh);
  EXPECT_EQ(a.cost, b.cost);
  ASSERT_EQ(a.timeline.size(), b.timeline.size());
  for (size_t i = 0; i < a.timeline.size(); ++i) EXPECT_EQ(a.timeline[i].text, b.timeline[i].text);
}

TEST(Simulate, CountsToTheSecond) {
  World world{.step_hours = 0.5, .steps = 20, .pools = {{.name = "a", .available = {1}, .price = {2}}}};
  const FleetJob job{.hours = 1.7, .start_hours = 0.2};
  scheduler::Planner planner;
  const Outcome out = Simulate(world, job, planner);
  EXPECT_TRUE(out.finished);
  EXPECT_NEAR(out.finish_hours, 1.9, 1e-9);
  EXPECT_NEAR(out.cost, 3.8, 1e-9);
  EXPECT_NEAR(out.start_hours, 0.2, 1e-9);
  // The optimum counts work in eighths of a step, so it is only near the exact cost.
  EXPECT_NEAR(*GangOptimum(world, job), 3.8, 0.1);
}

TEST(Simulate, AnElasticJobDoesItsWorkWithWhatThereIs) {
  World world{.step_hours = 0.5, .steps = 40, .pools = {{.name = "a", .available = {5}, .price = {1}}}};
  // The job has 32 node-hours of work.
  const FleetJob job{.hours = 4, .min = 2, .max = 8};
  scheduler::Planner planner;
  const Outcome out = Simulate(world, job, planner);
  EXPECT_NEAR(out.finish_hours, 32.0 / 5, 1e-9);
  EXPECT_NEAR(out.cost, 32, 1e-9);
  EXPECT_NEAR(*ElasticBound(world, job), 32, 1e-9);
}

TEST(Forecast, FollowsTheDaysBefore) {
  WorldPool pool;
  for (int hour = 0; hour < 24 * 10; ++hour) pool.grams.push_back(hour % 24 < 12 ? 300 : 100);
  pool.grams_begin = 24 * 5;
  const std::vector<double> forecast = ForecastGrams(pool, 6, 24);
  EXPECT_NEAR(forecast[0], 300, 1e-9);
  EXPECT_NEAR(forecast[5], 300, 1e-9);
  EXPECT_NEAR(forecast[6], 100, 1e-9);
  EXPECT_NEAR(forecast[18], 300, 1e-9);
}

}  // namespace
}  // namespace rekindle::fleet
