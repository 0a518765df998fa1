#include "coordinator/fleet/file/fleet_file.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/spec/field_check.h"
#include "coordinator/fleet/file/carbon_file.h"
#include "coordinator/fleet/file/pool_machines.h"
#include "coordinator/fleet/file/price_from.h"
#include "coordinator/fleet/providers/contract/price_source.h"
#include "coordinator/fleet/providers/registry/provider_kinds.h"
#include "coordinator/market/goal_words.h"

namespace rekindle::fleet {
namespace {

constexpr int kMaxNodes = 100'000;
constexpr int kMaxPools = 1000;
constexpr int kMaxTeams = 1000;
constexpr double kLeastShare = 0.001;
constexpr double kMaxShare = 1e6;
constexpr size_t kLongestCurrency = 16;
constexpr size_t kLongestName = 256;

absl::StatusOr<absl::Time> ToTime(const std::string& field, const std::string& text) {
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &error) && time >= absl::UnixEpoch()) return time;
  return common::WrongField(field, absl::StrCat("'", text, "' is not a time: write it as 2026-11-22T00:00:00Z"));
}

// Checks the pool's prices. The newest of them becomes the present price.
absl::Status ResolvePrices(const std::string& path, v1::Fleet::Pool& pool) {
  absl::Time before = absl::InfinitePast();
  for (int i = 0; i < pool.prices_size(); ++i) {
    const std::string name = absl::StrCat(path, ".prices[", i, "]");
    const absl::StatusOr<absl::Time> from = ToTime(name + ".from", pool.prices(i).from());
    if (!from.ok()) return from.status();
    if (absl::Status s = common::CheckRange(name + ".price", pool.prices(i).price(), 0, kHighestPrice); !s.ok())
      return s;
    if (*from <= before)
      return common::WrongField(name + ".from", "is not after the one before: list the oldest first");
    before = *from;
  }
  if (absl::Status s = common::CheckRange(path + ".on_demand_price", pool.on_demand_price(), 0, kHighestPrice); !s.ok())
    return s;
  if (pool.on_demand_price() > 0 && core::PoolCapacityOf(pool.capacity()) == core::PoolCapacity::kOnDemand) {
    return common::WrongField(path + ".on_demand_price", "is for spot pools; here it is the price: remove it");
  }
  if (pool.prices().empty()) return absl::OkStatus();
  if (pool.price() > 0) return common::WrongField(path + ".price", "is given beside prices: remove one");
  pool.set_price(pool.prices(pool.prices_size() - 1).price());
  return absl::OkStatus();
}

absl::Status ResolvePool(const std::string& path, const ProviderKind& kind, v1::Fleet::Pool& pool) {
  if (absl::Status s =
          common::CheckOneOf(path + ".capacity", pool.capacity(),
                             {core::WordOf(core::PoolCapacity::kSpot), core::WordOf(core::PoolCapacity::kOnDemand)});
      !s.ok())
    return s;
  if (pool.zone().empty())
    return common::WrongField(path + ".zone", "is missing: name the zone; traces tell capacity by zone");
  if (pool.name().empty()) pool.set_name(absl::StrCat(pool.zone(), "/", pool.instance_type(), "/", pool.capacity()));
  if (pool.name().size() > kLongestName) {
    return common::WrongField(path + ".name", absl::StrCat("is too long: at most ", kLongestName, " bytes"));
  }
  if (pool.carbon_region().size() > kLongestName) {
    return common::WrongField(path + ".carbon_region", absl::StrCat("is too long: at most ", kLongestName, " bytes"));
  }
  if (!pool.device().empty()) {
    if (absl::Status s = common::CheckOneOf(path + ".device", pool.device(), {"cpu", "cuda"}); !s.ok()) return s;
  }
  if (pool.devices() == 0) pool.set_devices(1);
  if (pool.speed() == 0) pool.set_speed(1);
  if (pool.max() == 0) pool.set_max(pool.has_machines() ? kind.max : kDefaultMax);
  for (const absl::Status& s : {common::CheckRange(path + ".price", pool.price(), 0, kHighestPrice),
                                common::CheckRange(path + ".devices", pool.devices(), 1, 64),
                                common::CheckRange(path + ".speed", pool.speed(), 1e-3, 1e3),
                                common::CheckRange(path + ".node_watts", pool.node_watts(), 0, 1e6),
                                common::CheckRange(path + ".max", pool.max(), 1, kMaxNodes),
                                common::CheckRange(path + ".min", pool.min(), 0, pool.max())}) {
    if (!s.ok()) return s;
  }
  if (absl::Status s = ResolvePoolMachines(path, kind, pool); !s.ok()) return s;
  return ResolvePrices(path, pool);
}

// Returns in words which group of machines the pool scales. Two pools must not scale the same group. The text is empty
// where no other pool could scale the pool's machines.
std::string GroupOf(const ProviderKind& kind, const v1::Fleet::Pool& pool) {
  if (!pool.has_machines() || kind.group == nullptr) return "";
  return absl::StrCat(kind.name, " ", kind.group(pool));
}

absl::Status ResolveTeams(v1::Fleet& fleet) {
  if (fleet.teams_size() > kMaxTeams)
    return common::WrongField("teams", absl::StrCat("has more than ", kMaxTeams, " teams"));
  std::set<std::string> names;
  for (int i = 0; i < fleet.teams_size(); ++i) {
    v1::Fleet::Team& team = *fleet.mutable_teams(i);
    const std::string path = absl::StrCat("teams[", i, "]");
    if (!team.has_share()) team.set_share(1);
    for (const absl::Status& s : {common::CheckRange(path + ".share", team.share(), kLeastShare, kMaxShare),
                                  common::CheckRange(path + ".max_nodes", team.max_nodes(), 0, kMaxNodes)}) {
      if (!s.ok()) return s;
    }
    if (!names.insert(team.name()).second) {
      return common::WrongField(path + ".name", absl::StrCat("'", team.name(), "' is there twice: keep one"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::Fleet> ResolveFleet(const v1::Fleet& fleet) {
  v1::Fleet out = fleet;
  if (out.pools().empty()) return common::WrongField("pools", "is empty: a fleet has at least one pool");
  if (out.pools_size() > kMaxPools)
    return common::WrongField("pools", absl::StrCat("has more than ", kMaxPools, " pools"));
  if (out.currency().empty()) out.set_currency("USD");
  if (out.currency().size() > kLongestCurrency) return common::WrongField("currency", "is too long: write it as USD");
  if (absl::Status s = common::CheckRange("stale_after_hours", out.stale_after_hours(), 0, 1e6); !s.ok()) return s;
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
    const absl::StatusOr<const ProviderKind*> kind = FindProviderKind(path + ".provider", pool.provider());
    if (!kind.ok()) return kind.status();
    if (absl::Status status = ResolvePool(path, **kind, pool); !status.ok()) return status;
    if (absl::Status status = CheckPriceFrom(path, out.currency(), **kind, pool); !status.ok()) return status;
    if (!names.emplace(pool.name(), path).second) {
      return common::WrongField(path + ".name",
                                absl::StrCat("'", pool.name(), "' is the name of ", names[pool.name()], " too"));
    }
    const std::string capacity =
        absl::StrJoin({pool.provider(), pool.region(), pool.zone(), pool.instance_type(), pool.capacity()}, " ");
    if (!capacities.emplace(capacity, path).second) {
      return common::WrongField(path, absl::StrCat("overlaps ", capacities[capacity], ": both are ", capacity,
                                                   ", and its nodes would be counted twice; keep one"));
    }
    const std::string group = GroupOf(**kind, pool);
    if (!group.empty() && !groups.emplace(group, path).second) {
      return common::WrongField(path + ".machines.group",
                                absl::StrCat("'", pool.machines().group(), "' is the group of ", groups[group],
                                             " too: each pool needs its own"));
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
  return common::WrongField("spec.workers.device",
                            absl::StrCat("no pool of the fleet file has device: ", device,
                                         "; give it to those whose nodes do, or remove it here"));
}

}  // namespace rekindle::fleet
