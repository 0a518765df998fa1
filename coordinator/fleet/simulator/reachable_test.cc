// These tests check which deadlines and budgets are impossible, and which policies are left out of a comparison.
#include "coordinator/fleet/simulator/reachable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/fleet/simulator/compare.h"
#include "coordinator/fleet/simulator/optimum.h"

namespace rekindle::fleet {
namespace {

using scheduler::Allowed;
using scheduler::Capacity;
using scheduler::kNever;
using testing::HasSubstr;

constexpr double kSpot = 1;
constexpr double kOnDemand = 3;

// Returns a world with steps of half an hour, the given spot capacity, and on-demand capacity without a limit.
World MakeWorld(const std::vector<std::vector<int>>& spot, bool on_demand = true) {
  World world{.step_hours = 0.5, .steps = 40};
  for (const std::vector<int>& nodes : spot) {
    world.pools.push_back({.name = "spot" + std::to_string(world.pools.size()), .available = nodes, .price = {kSpot}});
    world.pools.back().available.resize(world.steps, nodes.back());
  }
  if (on_demand) {
    world.pools.push_back(
        {.name = "on-demand", .capacity = Capacity::kOnDemand, .available = {1000}, .price = {kOnDemand}});
  }
  return world;
}

FleetJob Gang(double hours, double deadline, Allowed allowed = Allowed::kMixed) {
  FleetJob job{.hours = hours, .deadline = deadline, .start_hours = 0.25};
  job.policy.capacity = allowed;
  return job;
}

std::string Refused(const World& world, const FleetJob& job) {
  const absl::Status status = CheckReachable(world, job);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  return std::string(status.message());
}

TEST(Reachable, TheEarliestFinishIsOfWhatTheJobAllows) {
  // There is no spot capacity in the first hour. So a job that takes only spot capacity finishes an hour later than
  // others.
  const World world = MakeWorld({{0, 0, 1}});
  EXPECT_NEAR(EarliestFinish(world, Gang(4, kNever)).hours, 4.25, 1e-9);
  EXPECT_NEAR(EarliestFinish(world, Gang(4, kNever, Allowed::kOnDemand)).cost, 4.25 * kOnDemand, 1e-9);
  EXPECT_NEAR(EarliestFinish(world, Gang(4, kNever, Allowed::kSpot)).hours, 5.25, 1e-9);
  EXPECT_TRUE(CheckReachable(world, Gang(4, 5)).ok());
  EXPECT_THAT(Refused(world, Gang(4, 5, Allowed::kSpot)),
              HasSubstr("spec.goals.deadline_hours: 5.00 is impossible on this fleet: the earliest finish on spot "
                        "capacity alone is after 5.25 h, for 4.25; allow at least that"));
  EXPECT_THAT(Refused(MakeWorld({{0}}), Gang(4, kNever, Allowed::kSpot)),
              HasSubstr("the job cannot finish on spot capacity alone within the 20.0 h of the traces"));
}

// A greedy choice would take the first pool, whose node is gone when the start is done.
TEST(Reachable, TheEarliestFinishForeseesInterruptions) {
  const World world = MakeWorld({{1, 0}, {1}}, false);
  EXPECT_NEAR(EarliestFinish(world, Gang(4, kNever)).hours, 4.25, 1e-9);
  FleetJob elastic = Gang(4, kNever);
  elastic.max = 2;
  // The job has 8 node-hours of work. Two nodes work for a quarter of an hour in the first half hour, and one node
  // works from then on.
  const Finish finish = EarliestFinish(world, elastic);
  EXPECT_NEAR(finish.hours, 0.5 + (8 - 0.5), 1e-9);
  EXPECT_NEAR(finish.cost, (8 + 2 * 0.25) * kSpot, 1e-9);
  elastic.min = 2;
  // With `min` equal to `max` the job is a gang of two nodes. Only the first half hour has room for two nodes, and not
  // in a single pool.
  elastic.hours = 0.25;
  EXPECT_EQ(EarliestFinish(world, elastic).hours, kNever);
}

TEST(Reachable, ATooSmallBudgetIsRefusedWithTheLeast) {
  const World world = MakeWorld({{1}});
  FleetJob job = Gang(4, 10);
  job.budget = 5;
  EXPECT_TRUE(CheckReachable(world, job).ok());
  job.budget = 3;
  EXPECT_THAT(Refused(world, job), HasSubstr("spec.goals.budget: 3.00 is too small: even with perfect knowledge of the "
                                             "traces the job costs 4.25, and 4.25 without that knowledge; allow at "
                                             "least 4.25, or a later deadline"));
}

TEST(Optimum, IsLeftOutOfWorldsThatAreTooLarge) {
  World world = MakeWorld({{1}});
  world.steps = 4'000'000;
  world.pools[0].available = {1};
  FleetJob job = Gang(1'000'000, kNever);
  EXPECT_EQ(GangOptimum(world, job).status().code(), absl::StatusCode::kResourceExhausted);
  world.steps = 40'000'000;
  EXPECT_EQ(ElasticBound(world, job).status().code(), absl::StatusCode::kResourceExhausted);
}

// GangOptimum counts work in coarser parts of a step where finer ones would be too many.
TEST(Optimum, StaysNearInCoarserParts) {
  World world = MakeWorld({{1}});
  world.steps = 15'000;
  world.pools[0].available = {1};
  const FleetJob job = Gang(6'000, kNever);
  const auto cost = GangOptimum(world, job);
  ASSERT_TRUE(cost.ok()) << cost.status();
  EXPECT_NEAR(*cost, 6'000.25 * kSpot, 1);
}

PolicyOutcome Only(const World& world, const FleetJob& job, const std::string& policy) {
  const auto outcomes = Compare(world, job, {policy});
  EXPECT_TRUE(outcomes.ok()) << outcomes.status();
  return outcomes->at(0);
}

TEST(Compare, BaselinesAreLeftOutWithoutOnDemandPools) {
  const World world = MakeWorld({{1}}, false);
  for (const char* policy : {"on_demand", "greedy_spot", "next_zone", "uniform_progress"}) {
    EXPECT_EQ(Only(world, Gang(4, kNever), policy).left_out, "no on-demand pool of the fleet has room for 1 node");
  }
  EXPECT_EQ(Only(world, Gang(4, kNever), "planner").left_out, "");
  EXPECT_NEAR(Only(world, Gang(4, kNever), "optimum").outcome.cost, 4.25 * kSpot, 1e-6);
}

TEST(Compare, SaysWhatCrossesTheBudgetAndWhatItWouldTake) {
  World world = MakeWorld({{1, 0, 0, 1, 0}});
  FleetJob job = Gang(4, 9);
  // The job cannot finish on spot capacity alone, and with on-demand capacity it costs more than the budget.
  job.budget = 6;
  EXPECT_GT(Only(world, job, "on_demand").outcome.over_budget, 6);
  const PolicyOutcome planner = Only(world, job, "planner");
  EXPECT_FALSE(planner.outcome.finished);
  EXPECT_LE(planner.outcome.over_budget, 0.5 * kOnDemand);
  EXPECT_GT(planner.needs, 6);
}

TEST(Compare, PoolsWithoutCarbonDataAreNamedAndNotTakenForClean) {
  World world = MakeWorld({{1}, {1}});
  world.pools[1].grams = std::vector<double>(30, 200);
  FleetJob job = Gang(4, 10);
  EXPECT_THAT(Caveats(world, job), testing::ElementsAre(HasSubstr("what these pools emit is not known, and not in the "
                                                                  "figures: spot0, on-demand")));
  job.policy.objective = scheduler::Objective::kGreenest;
  EXPECT_THAT(Caveats(world, job), testing::ElementsAre(HasSubstr("as dirty as the dirtiest that is known")));
  const Outcome green = Only(world, job, "planner").outcome;
  EXPECT_NEAR(green.grams, 200 * 4.25, 1e-6);
  EXPECT_EQ(green.unknown_carbon_hours, 0);
  world.pools[1].grams.clear();
  EXPECT_THAT(Caveats(world, job), testing::ElementsAre(HasSubstr("so cost alone decides")));
  EXPECT_NEAR(Only(world, job, "planner").outcome.unknown_carbon_hours, 4.25, 1e-6);
}

}  // namespace
}  // namespace rekindle::fleet
