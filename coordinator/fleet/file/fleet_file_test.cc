#include "coordinator/fleet/file/fleet_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "common/spec/yaml.h"
#include "coordinator/fleet/simulator/job_goals.h"

namespace rekindle::fleet {
namespace {

using testing::HasSubstr;

constexpr char kFleet[] = R"(pools:
  - {provider: aws, region: us-east-2, zone: us-east-2a, instance_type: p3.2xlarge, capacity: spot, price: 1}
  - {provider: aws, region: us-east-2, zone: us-east-2a, instance_type: p3.2xlarge, capacity: on_demand, price: 3}
)";

absl::StatusOr<v1::Fleet> Fleet(const std::string& text) {
  v1::Fleet fleet;
  if (absl::Status status = common::ParseYaml(text, "fleet.yaml", &fleet); !status.ok()) return status;
  return ResolveFleet(fleet);
}

std::string Refused(const std::string& text) {
  const auto fleet = Fleet(text);
  EXPECT_EQ(fleet.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(fleet.status().message());
}

v1::JobSpec Spec(double deadline, double budget) {
  v1::JobSpec spec;
  spec.mutable_training()->set_steps(3600);
  spec.mutable_estimate()->set_step_seconds(10);  // The 3600 steps take 10 hours.
  spec.mutable_workers()->set_max(1);
  spec.mutable_goals()->set_deadline_hours(deadline);
  spec.mutable_goals()->set_budget(budget);
  return spec;
}

TEST(FleetFile, DefaultsAreFilledIn) {
  const auto fleet = Fleet(kFleet);
  ASSERT_TRUE(fleet.ok()) << fleet.status();
  EXPECT_EQ(fleet->pools(0).name(), "us-east-2a/p3.2xlarge/spot");
  EXPECT_EQ(fleet->pools(0).devices(), 1);
  EXPECT_EQ(fleet->pools(0).max(), 1000);
}

TEST(FleetFile, WhatIsWrongIsNamed) {
  const std::string pool = "pools: [{provider: aws, zone: a, instance_type: t, ";
  EXPECT_THAT(Refused(pool + "capacty: spot}]"),
              HasSubstr("`pools[0].capacty` is not a field; did you mean `capacity`?"));
  EXPECT_THAT(Refused(pool + "capacity: spott}]"),
              HasSubstr("pools[0].capacity: 'spott' is not known; did you mean 'spot'?"));
  EXPECT_THAT(Refused(pool + "capacity: spot, price: -1}]"), HasSubstr("pools[0].price: -1 is out of range"));
  EXPECT_THAT(Refused(pool + "capacity: spot, min: 5, max: 4}]"),
              HasSubstr("pools[0].min: 5 is out of range: use 0 to 4"));
  EXPECT_THAT(Refused("pools: [{provider: awz, zone: a, capacity: spot}]"), HasSubstr("did you mean 'aws'?"));
  EXPECT_THAT(Refused("pools: [{provider: aws, capacity: spot}]"), HasSubstr("pools[0].zone: is missing"));
  EXPECT_THAT(Refused("pools: []"), HasSubstr("at least one pool"));
  const std::string twice = "pools: [{name: x, provider: aws, zone: a, capacity: spot}, {name: ";
  EXPECT_THAT(Refused(twice + "y, provider: aws, zone: a, capacity: spot}]"), HasSubstr("pools[1]: overlaps pools[0]"));
  EXPECT_THAT(Refused(twice + "x, provider: aws, zone: b, capacity: spot}]"), HasSubstr("is the name of pools[0] too"));
}

TEST(FleetFile, PoolsOfOtherDevicesAreTakenAway) {
  v1::Fleet fleet;
  for (const char* device : {"cpu", "cuda", ""}) fleet.add_pools()->set_device(device);
  v1::Fleet all = fleet;
  ASSERT_TRUE(KeepPoolsOf("", &all).ok());
  EXPECT_EQ(all.pools_size(), 3);
  ASSERT_TRUE(KeepPoolsOf("cuda", &fleet).ok());
  ASSERT_EQ(fleet.pools_size(), 1);
  EXPECT_EQ(fleet.pools(0).device(), "cuda");
  EXPECT_THAT(KeepPoolsOf("cpu", &fleet).message(), testing::HasSubstr("spec.workers.device: no pool"));
}

TEST(FleetFile, GoalsAreChecked) {
  EXPECT_THAT(std::string(ResolveGoals({}).status().message()), HasSubstr("spec.training.steps: is missing"));
  v1::JobSpec spec = Spec(0, 0);
  spec.mutable_goals()->set_objective("greener");
  EXPECT_THAT(std::string(ResolveGoals(spec).status().message()), HasSubstr("did you mean 'greenest'?"));
  spec = Spec(-1, 0);
  EXPECT_THAT(std::string(ResolveGoals(spec).status().message()),
              HasSubstr("spec.goals.deadline_hours: -1 is in the past: give hours from the submit on"));
  spec = Spec(std::numeric_limits<double>::quiet_NaN(), 0);
  EXPECT_THAT(std::string(ResolveGoals(spec).status().message()), HasSubstr("spec.goals.deadline_hours: nan is out"));
  spec = Spec(0, 0);
  spec.mutable_workers()->set_max(64);
  EXPECT_TRUE(ResolveGoals(spec).ok());
  spec.mutable_workers()->set_max(65);
  EXPECT_THAT(std::string(ResolveGoals(spec).status().message()),
              HasSubstr("spec.workers.max: 65 is out of range: use 0 to 64"));
}

}  // namespace
}  // namespace rekindle::fleet
