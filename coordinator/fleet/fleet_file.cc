#include "coordinator/fleet/fleet_file.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/nearest.h"
#include "coordinator/fleet/machines.h"

namespace rekindle::fleet {
namespace {

constexpr int kDefaultMax = 1000;
constexpr int kMaxNodes = 100'000;
constexpr int kMaxPools = 1000;
constexpr double kMaxPrice = 1e6;
constexpr size_t kLongestCurrency = 16;
constexpr size_t kLongestName = 256;
constexpr double kDefaultStep = 300;       // Seconds, where no trace says.
constexpr double kWithoutTrace = 31 * 24;  // Hours of a world without traces of capacity.

absl::Status Wrong(const std::string& what, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(what, ": ", why));
}

absl::StatusOr<absl::Time> ToTime(const std::string& field, const std::string& text) {
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &error) && time >= absl::UnixEpoch()) return time;
  return Wrong(field, absl::StrCat("'", text, "' is not a time: write it as 2026-11-22T00:00:00Z"));
}

absl::Status OneOf(const std::string& field, const std::string& value, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return absl::OkStatus();
  const std::string nearest = common::Nearest(value, known);
  const std::string hint = nearest.empty() ? "" : absl::StrCat("did you mean '", nearest, "'? ");
  return Wrong(field, absl::StrCat("'", value, "' is not known; ", hint, "known: ", absl::StrJoin(known, ", ")));
}

absl::Status Range(const std::string& field, double value, double low, double high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return Wrong(field, absl::StrCat(value, " is out of range: use ", low, " to ", high));
}

// The newest price is the present one.
absl::Status ResolvePrices(const std::string& path, v1::Fleet::Pool& pool) {
  absl::Time before = absl::InfinitePast();
  for (int i = 0; i < pool.prices_size(); ++i) {
    const std::string name = absl::StrCat(path, ".prices[", i, "]");
    const absl::StatusOr<absl::Time> from = ToTime(name + ".from", pool.prices(i).from());
    if (!from.ok()) return from.status();
    if (absl::Status s = Range(name + ".price", pool.prices(i).price(), 0, kMaxPrice); !s.ok()) return s;
    if (*from <= before) return Wrong(name + ".from", "is not after the one before: list the oldest first");
    before = *from;
  }
  if (absl::Status s = Range(path + ".on_demand_price", pool.on_demand_price(), 0, kMaxPrice); !s.ok()) return s;
  if (pool.on_demand_price() > 0 && pool.capacity() == "on_demand") {
    return Wrong(path + ".on_demand_price", "is for spot pools; here it is the price: remove it");
  }
  if (pool.prices().empty()) return absl::OkStatus();
  if (pool.price() > 0) return Wrong(path + ".price", "is given beside prices: remove one");
  pool.set_price(pool.prices(pool.prices_size() - 1).price());
  return absl::OkStatus();
}

absl::Status ResolvePool(const std::string& path, v1::Fleet::Pool& pool) {
  if (absl::Status s =
          OneOf(path + ".provider", pool.provider(), {"local", "kubernetes", "aws", "gcp", "azure", "exec"});
      !s.ok()) {
    return s;
  }
  if (absl::Status s = OneOf(path + ".capacity", pool.capacity(), {"spot", "on_demand"}); !s.ok()) return s;
  if (pool.zone().empty()) return Wrong(path + ".zone", "is missing: name the zone; traces tell capacity by zone");
  if (pool.name().empty()) pool.set_name(absl::StrCat(pool.zone(), "/", pool.instance_type(), "/", pool.capacity()));
  if (pool.name().size() > kLongestName) {
    return Wrong(path + ".name", absl::StrCat("is too long: at most ", kLongestName, " bytes"));
  }
  if (pool.devices() == 0) pool.set_devices(1);
  if (pool.max() == 0) pool.set_max(pool.provider() == "local" && pool.has_machines() ? kDefaultLocalMax : kDefaultMax);
  for (const absl::Status& s :
       {Range(path + ".price", pool.price(), 0, kMaxPrice), Range(path + ".devices", pool.devices(), 1, 64),
        Range(path + ".max", pool.max(), 1, kMaxNodes), Range(path + ".min", pool.min(), 0, pool.max())}) {
    if (!s.ok()) return s;
  }
  if (absl::Status s = ResolveMachines(path, pool); !s.ok()) return s;
  return ResolvePrices(path, pool);
}

// What the planner does not do yet.
absl::Status CheckPlannable(const std::string& path, const v1::Fleet::Pool& pool) {
  if (pool.min() > 0) return Wrong(path + ".min", "nodes that are always kept are not planned yet: leave it out");
  if (pool.devices() > 1) {
    return Wrong(path + ".devices",
                 "only nodes of one device are planned so far: leave it out, and count "
                 "spec.workers in nodes");
  }
  return absl::OkStatus();
}

absl::Status AddZones(const Trace& trace, const v1::Fleet& fleet, std::map<std::string, const ZoneTrace*>* zones) {
  for (const ZoneTrace& zone : trace.zones) {
    const auto names = [&](const v1::Fleet::Pool& pool) {
      return pool.zone() == zone.zone && pool.capacity() == "spot";
    };
    if (std::none_of(fleet.pools().begin(), fleet.pools().end(), names)) {
      return Wrong("trace of zone " + zone.zone, "no spot pool of the fleet is there: add one, or leave the trace out");
    }
    if (!zones->emplace(zone.zone, &zone).second)
      return Wrong("trace of zone " + zone.zone, "is given twice: leave one out");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::Fleet> ResolveFleet(const v1::Fleet& fleet) {
  v1::Fleet out = fleet;
  if (out.pools().empty()) return Wrong("pools", "is empty: a fleet has at least one pool");
  if (out.pools_size() > kMaxPools) return Wrong("pools", absl::StrCat("has more than ", kMaxPools, " pools"));
  if (out.currency().empty()) out.set_currency("USD");
  if (out.currency().size() > kLongestCurrency) return Wrong("currency", "is too long: write it as USD");
  if (absl::Status s = Range("stale_after_hours", out.stale_after_hours(), 0, 1e6); !s.ok()) return s;
  if (!out.as_of().empty()) {
    if (const auto time = ToTime("as_of", out.as_of()); !time.ok()) return time.status();
  }
  std::map<std::string, std::string> names;
  std::map<std::string, std::string> capacities;
  std::map<std::string, std::string> groups;
  for (int i = 0; i < out.pools_size(); ++i) {
    v1::Fleet::Pool& pool = *out.mutable_pools(i);
    const std::string path = absl::StrCat("pools[", i, "]");
    if (absl::Status status = ResolvePool(path, pool); !status.ok()) return status;
    if (!names.emplace(pool.name(), path).second) {
      return Wrong(path + ".name", absl::StrCat("'", pool.name(), "' is the name of ", names[pool.name()], " too"));
    }
    const std::string capacity =
        absl::StrJoin({pool.provider(), pool.region(), pool.zone(), pool.instance_type(), pool.capacity()}, " ");
    if (!capacities.emplace(capacity, path).second) {
      return Wrong(path, absl::StrCat("overlaps ", capacities[capacity], ": both are ", capacity,
                                      ", and its nodes would be counted twice; keep one"));
    }
    const std::string group = MachineGroup(pool);
    if (!group.empty() && !groups.emplace(group, path).second) {
      return Wrong(path + ".machines.group", absl::StrCat("'", pool.machines().group(), "' is the group of ",
                                                          groups[group], " too: each pool needs its own"));
    }
  }
  return out;
}

absl::StatusOr<SimulatedJob> ResolveGoals(const v1::JobSpec& spec) {
  const auto& goals = spec.goals();
  const auto& estimate = spec.estimate();
  if (spec.training().steps() < 1) return Wrong("spec.training.steps", "is missing: say how many steps the job takes");
  if (estimate.step_seconds() <= 0) {
    return Wrong("spec.estimate.step_seconds", "is missing: how long one step takes on spec.workers.max nodes");
  }
  for (const absl::Status& s :
       {Range("spec.goals.deadline_hours", goals.deadline_hours(), 0, 1e5),
        Range("spec.goals.budget", goals.budget(), 0, 1e12),
        Range("spec.estimate.step_seconds", estimate.step_seconds(), 0, 1e6),
        Range("spec.estimate.start_seconds", estimate.start_seconds(), 0, 86400),
        Range("spec.estimate.pause_seconds", estimate.pause_seconds(), 0, 3600),
        Range("spec.estimate.node_watts", estimate.node_watts(), 0, 1e6),
        Range("spec.workers.max", spec.workers().max(), 0, 4096),
        Range("spec.workers.min", spec.workers().min(), 0, 4096),
        OneOf("spec.goals.objective", goals.objective().empty() ? "cheapest" : goals.objective(),
              {"cheapest", "greenest"}),
        OneOf("spec.goals.capacity", goals.capacity().empty() ? "mixed" : goals.capacity(),
              {"mixed", "spot", "on_demand"})}) {
    if (!s.ok()) return s;
  }
  if (spec.workers().max() < 1) return Wrong("spec.workers.max", "is missing: say on how many nodes the job may run");
  if (spec.workers().min() > spec.workers().max()) return Wrong("spec.workers.min", "is above spec.workers.max");
  SimulatedJob job;
  job.min = std::max(1, spec.workers().min());
  job.max = std::max(job.min, spec.workers().max());
  job.hours = spec.training().steps() * estimate.step_seconds() / 3600;
  if (goals.deadline_hours() > 0) job.deadline = goals.deadline_hours();
  if (goals.budget() > 0) job.budget = goals.budget();
  job.start_hours = (estimate.has_start_seconds() ? estimate.start_seconds() : 180) / 3600;
  job.pause_hours = (estimate.has_pause_seconds() ? estimate.pause_seconds() : 1) / 3600;
  if (goals.objective() == "greenest") job.policy.objective = scheduler::Objective::kGreenest;
  if (goals.capacity() == "spot") job.policy.capacity = scheduler::Allowed::kSpot;
  if (goals.capacity() == "on_demand") job.policy.capacity = scheduler::Allowed::kOnDemand;
  return job;
}

absl::StatusOr<World> MakeWorld(const v1::Fleet& fleet, const std::vector<Trace>& traces, double node_watts) {
  std::map<std::string, const ZoneTrace*> zones;
  std::map<std::string, const Trace*> carbon;
  World world;
  for (int i = 0; i < fleet.pools_size(); ++i) {
    if (absl::Status s = CheckPlannable(absl::StrCat("pools[", i, "]"), fleet.pools(i)); !s.ok()) return s;
  }
  double step = 0;
  for (const Trace& trace : traces) {
    if (trace.zones.empty()) {
      carbon[trace.carbon_region] = &trace;
      continue;
    }
    if (step > 0 && trace.step_seconds != step) {
      return Wrong("--trace",
                   absl::StrCat("steps of ", step, " s and of ", trace.step_seconds, " s: use traces of one step"));
    }
    step = trace.step_seconds;
    if (absl::Status status = AddZones(trace, fleet, &zones); !status.ok()) return status;
    const int length = static_cast<int>(trace.zones[0].nodes.size());
    world.steps = world.steps == 0 ? length : std::min(world.steps, length);
  }
  world.step_hours = (step > 0 ? step : kDefaultStep) / 3600;
  if (world.steps == 0) world.steps = static_cast<int>(kWithoutTrace / world.step_hours);
  for (const auto& pool : fleet.pools()) {
    WorldPool out{.name = pool.name(), .available = {pool.max()}, .price = {pool.price()}};
    if (pool.capacity() == "on_demand") out.capacity = scheduler::Capacity::kOnDemand;
    const auto zone = zones.find(pool.zone());
    if (zone != zones.end() && out.capacity == scheduler::Capacity::kSpot) {
      out.available = zone->second->nodes;
      for (int& nodes : out.available) nodes = std::min(nodes, pool.max());
      if (!zone->second->prices.empty()) out.price = zone->second->prices;
    }
    if (!pool.carbon_region().empty() && !carbon.empty()) {
      const auto region = carbon.find(pool.carbon_region());
      if (region == carbon.end()) {
        return Wrong("pool " + pool.name(),
                     absl::StrCat("carbon_region '", pool.carbon_region(), "' has no trace: give it, as --trace ",
                                  pool.carbon_region(), "=FILE"));
      }
      out.grams = region->second->grams_per_kwh;
      for (double& grams : out.grams) grams *= node_watts / 1000;
    }
    world.pools.push_back(std::move(out));
  }
  return world;
}

}  // namespace rekindle::fleet
