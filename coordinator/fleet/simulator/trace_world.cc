#include "coordinator/fleet/simulator/trace_world.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/spec/field_check.h"
#include "coordinator/market/goal_words.h"

namespace rekindle::fleet {
namespace {

// A world has steps of `kDefaultStep` seconds where no trace states another length.
constexpr double kDefaultStep = 300;
// A world without traces of capacity is `kWithoutTrace` hours long.
constexpr double kWithoutTrace = 31 * 24;
// The number of pools times the number of steps of a world is at most `kMaxCells`.
constexpr double kMaxCells = 50e6;

// Columns maps the name of each pool to the column of a trace that holds its capacity.
using Columns = std::map<std::string, const ZoneTrace*>;

bool IsSpot(const v1::Fleet::Pool& pool) { return core::PoolCapacityOf(pool.capacity()) == core::PoolCapacity::kSpot; }

// Refuses a pool with settings that the planner does not support yet.
absl::Status CheckPlannable(const std::string& path, const v1::Fleet::Pool& pool) {
  if (pool.min() > 0)
    return common::WrongField(path + ".min", "nodes that are always kept are not planned yet: leave it out");
  if (pool.devices() > 1) {
    return common::WrongField(path + ".devices",
                              "only nodes of one device are planned so far: leave it out, and count "
                              "spec.workers in nodes");
  }
  return absl::OkStatus();
}

absl::Status Add(const std::string& pool, const ZoneTrace& column, Columns* columns) {
  if (columns->emplace(pool, &column).second) return absl::OkStatus();
  return common::WrongField("trace of " + column.zone, "is given twice: leave one out");
}

// Assigns the columns of the traces to pools. Columns named after pools are assigned first, because a column named
// after a zone belongs to the pool of that zone that has no column yet.
absl::Status AddColumns(const v1::Fleet& fleet, const std::vector<Trace>& traces, Columns* columns) {
  std::vector<const ZoneTrace*> of_zones;
  for (const Trace& trace : traces) {
    for (const ZoneTrace& column : trace.zones) {
      const auto named = std::find_if(fleet.pools().begin(), fleet.pools().end(), [&](const v1::Fleet::Pool& pool) {
        return pool.name() == column.zone && IsSpot(pool);
      });
      if (named == fleet.pools().end()) {
        of_zones.push_back(&column);
      } else if (absl::Status status = Add(named->name(), column, columns); !status.ok()) {
        return status;
      }
    }
  }
  Columns zones;
  for (const ZoneTrace* column : of_zones) {
    std::vector<std::string> pools;
    for (const auto& pool : fleet.pools()) {
      const bool there = pool.zone() == column->zone && IsSpot(pool);
      if (there && columns->count(pool.name()) == 0) pools.push_back(pool.name());
    }
    if (absl::Status status = Add(column->zone, *column, &zones); !status.ok()) return status;
    if (pools.empty()) {
      return common::WrongField(
          "trace of " + column->zone,
          "no spot pool of the fleet is called that, or is in a zone of that name without a trace of its own: "
          "add one, or leave the trace out");
    }
    if (pools.size() > 1) {
      return common::WrongField(
          "trace of " + column->zone,
          absl::StrCat("the spot pools ", absl::StrJoin(pools, ", "),
                       " are in that zone, and its nodes would be counted for each: call the column after the "
                       "pool it is of"));
    }
    (*columns)[pools[0]] = column;
  }
  return absl::OkStatus();
}

absl::Status SetLength(const v1::Fleet& fleet, const std::vector<Trace>& traces, World* world) {
  double step = 0;
  for (const Trace& trace : traces) {
    if (trace.zones.empty()) continue;
    if (step > 0 && trace.step_seconds != step) {
      return common::WrongField(
          "--trace", absl::StrCat("steps of ", step, " s and of ", trace.step_seconds, " s: use traces of one step"));
    }
    step = trace.step_seconds;
    const int length = static_cast<int>(trace.zones[0].nodes.size());
    world->steps = world->steps == 0 ? length : std::min(world->steps, length);
  }
  world->step_hours = (step > 0 ? step : kDefaultStep) / 3600;
  if (world->steps == 0) world->steps = static_cast<int>(kWithoutTrace / world->step_hours);
  if (static_cast<double>(world->steps) * fleet.pools_size() <= kMaxCells) return absl::OkStatus();
  return common::WrongField(
      "--trace", absl::StrCat(world->steps, " steps of ", fleet.pools_size(), " pools are more than the ", kMaxCells,
                              " that can be played: choose a longer --step, or fewer pools"));
}

}  // namespace

absl::StatusOr<World> MakeWorld(const v1::Fleet& fleet, const std::vector<Trace>& traces, double node_watts) {
  World world;
  Columns columns;
  std::map<std::string, const Trace*> carbon;
  for (int i = 0; i < fleet.pools_size(); ++i) {
    if (absl::Status s = CheckPlannable(absl::StrCat("pools[", i, "]"), fleet.pools(i)); !s.ok()) return s;
  }
  if (absl::Status status = AddColumns(fleet, traces, &columns); !status.ok()) return status;
  if (absl::Status status = SetLength(fleet, traces, &world); !status.ok()) return status;
  for (const Trace& trace : traces) {
    if (trace.zones.empty()) carbon[trace.carbon_region] = &trace;
  }
  for (const auto& pool : fleet.pools()) {
    WorldPool out{.name = pool.name(), .speed = pool.speed(), .available = {pool.max()}, .price = {pool.price()}};
    if (core::PoolCapacityOf(pool.capacity()) == core::PoolCapacity::kOnDemand)
      out.capacity = scheduler::Capacity::kOnDemand;
    if (const auto column = columns.find(pool.name()); column != columns.end()) {
      out.available = column->second->nodes;
      for (int& nodes : out.available) nodes = std::min(nodes, pool.max());
      if (!column->second->prices.empty()) out.price = column->second->prices;
    }
    if (!pool.carbon_region().empty() && !carbon.empty()) {
      const auto region = carbon.find(pool.carbon_region());
      if (region == carbon.end()) {
        return common::WrongField("pool " + pool.name(),
                                  absl::StrCat("carbon_region '", pool.carbon_region(),
                                               "' has no trace: give it, as --trace ", pool.carbon_region(), "=FILE"));
      }
      out.grams = region->second->grams_per_kwh;
      const double watts = pool.node_watts() > 0 ? pool.node_watts() : node_watts;
      for (double& grams : out.grams) grams *= watts / 1000;
    }
    world.pools.push_back(std::move(out));
  }
  return world;
}

}  // namespace rekindle::fleet
