#include "coordinator/fleet/providers/gcp/gcp_kind.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/spec/field_check.h"
#include "coordinator/fleet/providers/gcp/gcp.h"
#include "coordinator/fleet/providers/gcp/gcp_prices.h"
#include "coordinator/fleet/providers/gcp/gcp_token.h"
#include "coordinator/market/goal_words.h"

namespace rekindle::fleet {
namespace {

using Form = MachineField::Form;
using Pool = v1::Fleet::Pool;

constexpr MachineField kFields[] = {{"group", Form::kName, /*needed=*/true},
                                    {"project", Form::kName, /*needed=*/true},
                                    {"endpoint", Form::kEndpoint},
                                    {"price_endpoint", Form::kEndpoint}};

// Checks the pool's zone, because it becomes a part of the paths of Compute Engine.
absl::Status Resolve(const std::string& path, Pool& pool) { return CheckName(path + ".zone", pool.zone()); }

std::string Account(const Pool& pool) { return pool.machines().endpoint(); }

std::string Group(const Pool& pool) {
  return absl::StrJoin({pool.zone(), Account(pool), pool.machines().project(), pool.machines().group()}, " ");
}

GcpGroup GroupOf(const Pool& pool) {
  return {.project = pool.machines().project(), .zone = pool.zone(), .name = pool.machines().group()};
}

absl::StatusOr<std::unique_ptr<Provider>> Open(const Pools& pools, const ProviderOptions&) {
  return NewGcpProvider(pools[0].machines().endpoint(), ByPool(pools, GroupOf), GcpToken(ProcessVariables()));
}

// Checks that the pool's zone is in its region, because Google is asked for machines by zone and for prices by region.
absl::Status CheckPrices(const std::string& path, const std::string&, const Pool& pool) {
  if (absl::StartsWith(pool.zone(), pool.region() + "-")) return absl::OkStatus();
  return common::WrongField(path + ".region",
                            absl::StrCat("zone ", pool.zone(), " is not in ", pool.region(), ": correct either"));
}

std::string PriceAccount(const Pool& pool) {
  return absl::StrCat(pool.machines().price_endpoint(), " ", pool.machines().endpoint());
}

GcpOffer OfferOf(const Pool& pool) {
  return {.project = pool.machines().project(),
          .region = pool.region(),
          .zone = pool.zone(),
          .instance_type = pool.instance_type(),
          .spot = core::PoolCapacityOf(pool.capacity()) == core::PoolCapacity::kSpot,
          .gpus = pool.device() == "cuda"};
}

absl::StatusOr<std::unique_ptr<PriceSource>> OpenPrices(const Pools& pools, const std::string& currency) {
  return NewGcpPrices({.endpoint = pools[0].machines().price_endpoint(),
                       .compute_endpoint = pools[0].machines().endpoint(),
                       .currency = currency,
                       .offers = ByPool(pools, OfferOf)},
                      GcpToken(ProcessVariables(), kGcpPriceScope));
}

constexpr PriceKind kPrices{.check = CheckPrices, .account = PriceAccount, .open = OpenPrices};

}  // namespace

constinit const ProviderKind kGcpKind{.name = "gcp",
                                      .fields = kFields,
                                      .resolve = Resolve,
                                      .group = Group,
                                      .account = Account,
                                      .open = Open,
                                      .prices = &kPrices};

}  // namespace rekindle::fleet
