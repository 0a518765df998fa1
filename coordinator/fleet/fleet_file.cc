#include "coordinator/fleet/fleet_file.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/limits.h"
#include "common/nearest.h"
#include "coordinator/fleet/carbon_file.h"
#include "coordinator/fleet/field_check.h"
#include "coordinator/fleet/machines.h"
#include "coordinator/fleet/price_from.h"

namespace rekindle::fleet {
namespace {

constexpr int kDefaultMax = 1000;
constexpr int kMaxNodes = 100'000;
constexpr int kMaxPools = 1000;
constexpr int kMaxTeams = 1000;
constexpr double kLeastShare = 0.001;
constexpr double kMaxShare = 1e6;
constexpr double kMaxPrice = 1e6;
constexpr size_t kLongestCurrency = 16;
constexpr size_t kLongestName = 256;

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
  if (pool.carbon_region().size() > kLongestName) {
    return Wrong(path + ".carbon_region", absl::StrCat("is too long: at most ", kLongestName, " bytes"));
  }
  if (!pool.device().empty()) {
    if (absl::Status s = OneOf(path + ".device", pool.device(), {"cpu", "cuda"}); !s.ok()) return s;
  }
  if (pool.devices() == 0) pool.set_devices(1);
  if (pool.speed() == 0) pool.set_speed(1);
  if (pool.max() == 0) pool.set_max(pool.provider() == "local" && pool.has_machines() ? kDefaultLocalMax : kDefaultMax);
  for (const absl::Status& s :
       {Range(path + ".price", pool.price(), 0, kMaxPrice), Range(path + ".devices", pool.devices(), 1, 64),
        Range(path + ".speed", pool.speed(), 1e-3, 1e3), Range(path + ".node_watts", pool.node_watts(), 0, 1e6),
        Range(path + ".max", pool.max(), 1, kMaxNodes), Range(path + ".min", pool.min(), 0, pool.max())}) {
    if (!s.ok()) return s;
  }
  if (absl::Status s = ResolveMachines(path, pool); !s.ok()) return s;
  return ResolvePrices(path, pool);
}

absl::Status ResolveTeams(v1::Fleet& fleet) {
  if (fleet.teams_size() > kMaxTeams) return Wrong("teams", absl::StrCat("has more than ", kMaxTeams, " teams"));
  std::set<std::string> names;
  for (int i = 0; i < fleet.teams_size(); ++i) {
    v1::Fleet::Team& team = *fleet.mutable_teams(i);
    const std::string path = absl::StrCat("teams[", i, "]");
    if (!team.has_share()) team.set_share(1);
    for (const absl::Status& s : {Range(path + ".share", team.share(), kLeastShare, kMaxShare),
                                  Range(path + ".max_nodes", team.max_nodes(), 0, kMaxNodes)}) {
      if (!s.ok()) return s;
    }
    if (!names.insert(team.name()).second) {
      return Wrong(path + ".name", absl::StrCat("'", team.name(), "' is there twice: keep one"));
    }
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
  if (absl::Status s = ResolveTeams(out); !s.ok()) return s;
  std::map<std::string, std::string> names;
  std::map<std::string, std::string> capacities;
  std::map<std::string, std::string> groups;
  for (int i = 0; i < out.pools_size(); ++i) {
    v1::Fleet::Pool& pool = *out.mutable_pools(i);
    const std::string path = absl::StrCat("pools[", i, "]");
    if (absl::Status status = ResolvePool(path, pool); !status.ok()) return status;
    if (absl::Status status = CheckPriceFrom(path, out.currency(), pool); !status.ok()) return status;
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
  if (absl::Status s = ResolveCarbon(&out); !s.ok()) return s;
  return out;
}

absl::Status KeepPoolsOf(const std::string& device, v1::Fleet* fleet) {
  if (device.empty()) return absl::OkStatus();
  auto& pools = *fleet->mutable_pools();
  pools.erase(
      std::remove_if(pools.begin(), pools.end(), [&](const v1::Fleet::Pool& p) { return p.device() != device; }),
      pools.end());
  if (!pools.empty()) return absl::OkStatus();
  return Wrong("spec.workers.device", absl::StrCat("no pool of the fleet file has device: ", device,
                                                   "; give it to those whose nodes do, or remove it here"));
}

absl::StatusOr<SimulatedJob> ResolveGoals(const v1::JobSpec& spec) {
  const auto& goals = spec.goals();
  const auto& estimate = spec.estimate();
  if (spec.training().steps() < 1) return Wrong("spec.training.steps", "is missing: say how many steps the job takes");
  if (estimate.step_seconds() <= 0) {
    return Wrong("spec.estimate.step_seconds", "is missing: how long one step takes on spec.workers.max nodes");
  }
  if (goals.deadline_hours() < 0) {
    return Wrong("spec.goals.deadline_hours",
                 absl::StrCat(goals.deadline_hours(), " is in the past: give hours from the submit on"));
  }
  for (const absl::Status& s :
       {Range("spec.goals.deadline_hours", goals.deadline_hours(), 0, 1e5),
        Range("spec.goals.budget", goals.budget(), 0, 1e12),
        Range("spec.estimate.step_seconds", estimate.step_seconds(), 0, 1e6),
        Range("spec.estimate.start_seconds", estimate.start_seconds(), 0, 86400),
        Range("spec.estimate.pause_seconds", estimate.pause_seconds(), 0, 3600),
        Range("spec.estimate.node_watts", estimate.node_watts(), 0, 1e6),
        Range("spec.workers.max", spec.workers().max(), 0, common::kMaxWorldSize),
        Range("spec.workers.min", spec.workers().min(), 0, common::kMaxWorldSize),
        OneOf("spec.goals.objective", goals.objective().empty() ? "cheapest" : goals.objective(),
              {"cheapest", "fastest", "greenest"}),
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
  if (goals.objective() == "fastest") job.policy.objective = scheduler::Objective::kFastest;
  if (goals.objective() == "greenest") job.policy.objective = scheduler::Objective::kGreenest;
  if (goals.capacity() == "spot") job.policy.capacity = scheduler::Allowed::kSpot;
  if (goals.capacity() == "on_demand") job.policy.capacity = scheduler::Allowed::kOnDemand;
  return job;
}

}  // namespace rekindle::fleet
