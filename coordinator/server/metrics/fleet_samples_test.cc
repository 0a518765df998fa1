#include "coordinator/server/metrics/fleet_samples.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/testing/samples_testing.h"

namespace rekindle::coordinator {
namespace {

v1::Node NodeOf(const std::string& pool, const std::string& state, int slots, int trainers) {
  v1::Node node;
  node.set_pool(pool);
  node.set_state(state);
  node.set_slots(slots);
  for (int i = 0; i < trainers; ++i) node.add_trainers(absl::StrCat("t", i));
  return node;
}

TakenSamples SamplesOf(const FleetFacts& fleet) {
  common::MetricSamples samples;
  AddFleetSamples(fleet, samples);
  return TakenSamples(samples);
}

TEST(FleetSamples, NodesByPoolAndState) {
  FleetFacts fleet;
  fleet.nodes = {NodeOf("a", "ready", 1, 0), NodeOf("a", "ready", 1, 1), NodeOf("a", "lost", 1, 1),
                 NodeOf("", "draining", 1, 0)};
  const TakenSamples samples = SamplesOf(fleet);
  EXPECT_EQ(samples.Of("rekindle_nodes", {{"pool", "a"}, {"state", "ready"}}), 2);
  EXPECT_EQ(samples.Of("rekindle_nodes", {{"pool", "a"}, {"state", "lost"}}), 1);
  EXPECT_EQ(samples.Of("rekindle_nodes", {{"pool", "a"}, {"state", "drained"}}), 0);
  EXPECT_EQ(samples.Of("rekindle_nodes", {{"pool", ""}, {"state", "draining"}}), 1);
}

TEST(FleetSamples, WithoutAnyNodeThereIsAZero) {
  EXPECT_EQ(SamplesOf({}).Of("rekindle_nodes", {{"pool", ""}, {"state", "ready"}}), 0);
}

TEST(FleetSamples, SlotsAreUsedFreeOrOrdered) {
  FleetFacts fleet;
  fleet.nodes = {NodeOf("a", "ready", 4, 1), NodeOf("a", "draining", 4, 2), NodeOf("a", "lost", 4, 4),
                 // The last node has more trainers than slots, as happens while one trainer replaces another.
                 NodeOf("a", "ready", 1, 3)};
  fleet.pools["a"] = {.in_fleet_file = true, .slots_per_node = 4, .takes_orders = true, .nodes_ordered = 5};
  const TakenSamples samples = SamplesOf(fleet);
  EXPECT_EQ(samples.Of("rekindle_slots", {{"pool", "a"}, {"state", "used"}}), 1 + 2 + 1);
  EXPECT_EQ(samples.Of("rekindle_slots", {{"pool", "a"}, {"state", "free"}}), 3);
  EXPECT_EQ(samples.Of("rekindle_slots", {{"pool", "a"}, {"state", "ordered"}}), (5 - 3) * 4);
  fleet.pools["a"].nodes_ordered = 1;
  EXPECT_EQ(SamplesOf(fleet).Of("rekindle_slots", {{"pool", "a"}, {"state", "ordered"}}), 0);
}

TEST(FleetSamples, APoolThatTakesOrders) {
  FleetFacts fleet;
  fleet.currency = "USD";
  fleet.pools["spot"] = {.in_fleet_file = true,
                         .capacity = "spot",
                         .price_per_hour = 1.5,
                         .takes_orders = true,
                         .nodes_ordered = 3,
                         .machines_running = 2,
                         .trouble = core::PoolTrouble::kNoCapacity,
                         .avoided = true,
                         .never_registered = 2.5,
                         .never_registered_cost = 7};
  const TakenSamples samples = SamplesOf(fleet);
  EXPECT_EQ(samples.Of("rekindle_pool_price_per_hour", {{"pool", "spot"}, {"capacity", "spot"}, {"currency", "USD"}}),
            1.5);
  EXPECT_EQ(samples.Of("rekindle_pool_nodes_ordered", {{"pool", "spot"}}), 3);
  EXPECT_EQ(samples.Of("rekindle_pool_machines_running", {{"pool", "spot"}}), 2);
  EXPECT_EQ(samples.Of("rekindle_pool_trouble", {{"pool", "spot"}, {"trouble", "no_capacity"}}), 1);
  EXPECT_EQ(samples.Of("rekindle_pool_trouble", {{"pool", "spot"}, {"trouble", "none"}}), 0);
  EXPECT_EQ(samples.CountOf("rekindle_pool_trouble"), 4u);
  EXPECT_EQ(samples.Of("rekindle_pool_avoided", {{"pool", "spot"}}), 1);
  EXPECT_EQ(samples.Of("rekindle_pool_never_registered_machines_total", {{"pool", "spot"}}), 2.5);
  EXPECT_EQ(samples.Of("rekindle_pool_never_registered_cost_total", {{"pool", "spot"}, {"currency", "USD"}}), 7);
  EXPECT_EQ(samples.Of("rekindle_nodes", {{"pool", "spot"}, {"state", "ready"}}), 0) << "also without a node";
}

TEST(FleetSamples, OneThatDoesNotHasNoOrders) {
  FleetFacts fleet;
  fleet.pools["own"] = {.in_fleet_file = true, .capacity = "on_demand", .price_per_hour = 2};
  const TakenSamples samples = SamplesOf(fleet);
  EXPECT_EQ(samples.CountOf("rekindle_pool_price_per_hour"), 1u);
  EXPECT_EQ(samples.CountOf("rekindle_pool_nodes_ordered"), 0u);
  EXPECT_EQ(samples.CountOf("rekindle_pool_trouble"), 0u);
}

TEST(FleetSamples, NodesThatNameVeryManyPoolsAreTogether) {
  FleetFacts fleet;
  fleet.pools["zz-of-the-file"] = {.in_fleet_file = true, .capacity = "spot"};
  for (size_t i = 0; i < kListedPools + 50; ++i) fleet.nodes.push_back(NodeOf(absl::StrCat("p", i), "ready", 1, 0));
  fleet.nodes.push_back(NodeOf("zz-of-the-file", "ready", 1, 0));
  const TakenSamples samples = SamplesOf(fleet);
  EXPECT_EQ(samples.CountOf("rekindle_nodes"), 4 * (kListedPools + 1));
  EXPECT_EQ(samples.Of("rekindle_nodes", {{"pool", "other"}, {"state", "ready"}}), 51);
  EXPECT_EQ(samples.Of("rekindle_nodes", {{"pool", "zz-of-the-file"}, {"state", "ready"}}), 1);
}

}  // namespace
}  // namespace rekindle::coordinator
