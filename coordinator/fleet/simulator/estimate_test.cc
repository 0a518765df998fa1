#include "coordinator/fleet/simulator/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/spec/yaml.h"
#include "coordinator/fleet/file/fleet_file.h"

namespace rekindle::fleet {
namespace {

using testing::HasSubstr;

v1::Fleet Fleet() {
  v1::Fleet file;
  const absl::Status status = common::ParseYaml(R"(pools:
  - {provider: aws, zone: a, instance_type: t, capacity: spot, price: 1, max: 4}
  - {provider: aws, zone: b, instance_type: t, capacity: spot, price: 2, max: 4}
  - {provider: aws, zone: a, instance_type: t, capacity: on_demand, price: 3}
)",
                                                "fleet.yaml", &file);
  EXPECT_TRUE(status.ok()) << status;
  return *ResolveFleet(file);
}

FleetJob Job() { return {.hours = 10, .min = 1, .max = 4, .deadline = 16, .start_hours = 0.05}; }

TEST(Estimate, IsOverSeveralMadeUpWorldsOfTheirSeed) {
  const auto worlds = SyntheticWorlds(Fleet(), Job(), {}, 500, 1, 6);
  ASSERT_TRUE(worlds.ok()) << worlds.status();
  ASSERT_EQ(worlds->size(), 6u);
  EXPECT_NE((*worlds)[0].pools[0].available, (*worlds)[1].pools[0].available);
  EXPECT_NE((*worlds)[0].pools[0].available, (*worlds)[0].pools[1].available);
  EXPECT_NEAR((*worlds)[0].pools[1].Price(0), 2, 0.5);
  EXPECT_EQ((*SyntheticWorlds(Fleet(), Job(), {}, 500, 2, 1))[0].pools[0].available, (*worlds)[1].pools[0].available);

  const auto estimates = EstimateOver(*worlds, Job());
  ASSERT_TRUE(estimates.ok()) << estimates.status();
  const Estimate& planner = estimates->at(0);
  const Estimate& on_demand = estimates->at(1);
  EXPECT_EQ(planner.policy, "planner");
  EXPECT_EQ(planner.worlds, 6);
  EXPECT_EQ(planner.missed, 0);
  EXPECT_LT(planner.cost.low, planner.cost.high);
  EXPECT_LE(planner.cost.low, planner.cost.middle);
  EXPECT_LE(planner.cost.middle, planner.cost.high);
  EXPECT_LT(planner.cost.high, on_demand.cost.low);
  EXPECT_NEAR(on_demand.cost.low, 3 * 4 * 10.05, 1e-6);
  EXPECT_EQ(on_demand.cost.low, on_demand.cost.high);
}

TEST(Estimate, SaysWhatItTakesWhereTheBudgetEndsTheJob) {
  FleetJob job = Job();
  const auto worlds = SyntheticWorlds(Fleet(), job, {}, 500, 1, 6);
  const double middle = EstimateOver(*worlds, job)->at(0).cost.middle;
  job.budget = middle;
  const auto estimates = EstimateOver(*worlds, job);
  ASSERT_TRUE(estimates.ok()) << estimates.status();
  const Estimate& planner = estimates->at(0);
  EXPECT_GT(planner.unfinished, 0);
  EXPECT_LT(planner.unfinished, 6);
  EXPECT_GE(planner.needs.low, middle - 1e-6);
  EXPECT_LE(planner.cost.high, middle + 1e-6);
}

TEST(Estimate, TracesArePlayedFromSeveralMoments) {
  World world{.step_hours = 0.5, .steps = 60, .pools = {{.name = "a", .available = {}, .price = {1}}}};
  for (int step = 0; step < world.steps; ++step) world.pools[0].available.push_back(step < 30 ? 4 : 2);
  FleetJob job = Job();
  job.deadline = 21;
  const auto worlds = FromSeveralStarts(world, job, 4);
  ASSERT_EQ(worlds.size(), 4u);
  EXPECT_EQ(worlds[0].steps, 60);
  // The last world begins so early that it has enough steps for the job's deadline.
  EXPECT_EQ(worlds[3].steps, 42);
  const auto estimates = EstimateOver(worlds, job);
  ASSERT_TRUE(estimates.ok()) << estimates.status();
  EXPECT_LT(estimates->at(0).finish_hours.low, 11);
  EXPECT_GT(estimates->at(0).finish_hours.high, 12);
  EXPECT_THAT(estimates->at(1).left_out, HasSubstr("no on-demand pool"));
  job.deadline = 40;
  EXPECT_EQ(FromSeveralStarts(world, job, 4).size(), 1u);
}

TEST(Estimate, WhatIsNowherePossibleIsRefused) {
  FleetJob job = Job();
  job.deadline = 9;
  const auto worlds = SyntheticWorlds(Fleet(), job, {}, 500, 1, 2);
  EXPECT_THAT(std::string(EstimateOver(*worlds, job).status().message()),
              HasSubstr("the earliest finish is after 10.05"));
}

}  // namespace
}  // namespace rekindle::fleet
