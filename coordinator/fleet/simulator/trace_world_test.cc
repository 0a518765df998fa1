#include "coordinator/fleet/simulator/trace_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The fleet has two kinds of spot nodes in one zone, one kind in another zone, and on-demand capacity.
v1::Fleet Fleet() {
  v1::Fleet fleet;
  const auto add = [&](const char* name, const char* zone, const char* capacity, double price) {
    v1::Fleet::Pool& pool = *fleet.add_pools();
    pool.set_name(name);
    pool.set_zone(zone);
    pool.set_capacity(capacity);
    pool.set_price(price);
    pool.set_devices(1);
    pool.set_max(4);
  };
  add("small", "a", "spot", 1);
  add("large", "a", "spot", 2);
  add("far", "b", "spot", 1);
  add("sure", "a", "on_demand", 3);
  return fleet;
}

Trace Column(const std::string& name, std::vector<int> nodes) {
  return {.step_seconds = 60, .zones = {{.zone = name, .nodes = std::move(nodes)}}};
}

std::string Refused(const v1::Fleet& fleet, const std::vector<Trace>& traces) {
  const auto world = MakeWorld(fleet, traces, 500);
  EXPECT_EQ(world.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(world.status().message());
}

TEST(TraceWorld, ColumnsAreOfPoolsByNameThenByZone) {
  const auto world = MakeWorld(Fleet(), {Column("a", {1, 2}), Column("large", {9, 0, 3}), Column("b", {1, 1})}, 500);
  ASSERT_TRUE(world.ok()) << world.status();
  EXPECT_EQ(world->steps, 2);
  // The column "a" belongs to the pool of zone a that has no column of its own.
  EXPECT_THAT(world->pools[0].available, ElementsAre(1, 2));
  // A pool has at most `max` nodes, even where its column has more.
  EXPECT_EQ(world->pools[1].Available(0), 4);
  EXPECT_EQ(world->pools[1].Available(1), 0);
  EXPECT_THAT(world->pools[2].available, ElementsAre(1, 1));
  EXPECT_THAT(world->pools[3].available, ElementsAre(4));
}

TEST(TraceWorld, AColumnOfSeveralPoolsIsRefused) {
  EXPECT_THAT(Refused(Fleet(), {Column("a", {1})}),
              HasSubstr("trace of a: the spot pools small, large are in that zone, and its nodes would be counted for "
                        "each: call the column after the pool it is of"));
}

TEST(TraceWorld, TracesMustFitTheFleet) {
  EXPECT_THAT(Refused(Fleet(), {Column("mars-1a", {1})}), HasSubstr("trace of mars-1a: no spot pool of the fleet"));
  EXPECT_THAT(Refused(Fleet(), {Column("sure", {1})}), HasSubstr("trace of sure: no spot pool of the fleet"));
  EXPECT_THAT(Refused(Fleet(), {Column("b", {1}), Column("b", {1})}), HasSubstr("is given twice"));
  EXPECT_THAT(Refused(Fleet(), {Column("far", {1}), Column("far", {1})}), HasSubstr("is given twice"));
  Trace slower = Column("large", {1});
  slower.step_seconds = 120;
  EXPECT_THAT(Refused(Fleet(), {Column("b", {1}), slower}), HasSubstr("use traces of one step"));
  v1::Fleet carbon = Fleet();
  carbon.mutable_pools(0)->set_carbon_region("ES");
  const Trace norway{.step_seconds = 3600, .carbon_region = "NO", .grams_per_kwh = {30}};
  EXPECT_THAT(Refused(carbon, {norway}), HasSubstr("carbon_region 'ES' has no trace: give it, as --trace ES=FILE"));
}

TEST(TraceWorld, ItsSizeIsBounded) {
  v1::Fleet fleet = Fleet();
  for (int i = 0; i < 400; ++i) {
    *fleet.add_pools() = fleet.pools(3);
    fleet.mutable_pools(4 + i)->set_name("pool" + std::to_string(i));
  }
  EXPECT_THAT(
      Refused(fleet, {Column("far", std::vector<int>(200'000, 1))}),
      HasSubstr("200000 steps of 404 pools are more than the 5e+07 that can be played: choose a longer --step"));
}

}  // namespace
}  // namespace rekindle::fleet
