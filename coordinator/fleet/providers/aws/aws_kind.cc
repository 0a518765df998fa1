#include "coordinator/fleet/providers/aws/aws_kind.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/spec/field_check.h"
#include "coordinator/fleet/providers/aws/aws.h"
#include "coordinator/fleet/providers/aws/aws_prices.h"
#include "coordinator/market/goal_words.h"

namespace rekindle::fleet {
namespace {

using Form = MachineField::Form;
using Pool = v1::Fleet::Pool;

constexpr MachineField kFields[] = {
    {"group", Form::kName, /*needed=*/true}, {"endpoint", Form::kEndpoint}, {"price_endpoint", Form::kEndpoint}};

// Checks the pool's region, because it becomes a part of the addresses of AWS.
absl::Status Resolve(const std::string& path, Pool& pool) {
  if (absl::Status s = CheckName(path + ".region", pool.region()); !s.ok()) return s;
  if (!pool.region().empty()) return absl::OkStatus();
  return common::WrongField(path + ".region", "is missing: the group is looked for there");
}

std::string Account(const Pool& pool) { return absl::StrCat(pool.region(), " ", pool.machines().endpoint()); }

std::string Group(const Pool& pool) { return absl::StrCat(Account(pool), " ", pool.machines().group()); }

std::string NameOf(const Pool& pool) { return pool.machines().group(); }

absl::StatusOr<std::unique_ptr<Provider>> Open(const Pools& pools, const ProviderOptions&) {
  return NewAwsProvider(
      {.region = pools[0].region(), .endpoint = pools[0].machines().endpoint(), .groups = ByPool(pools, NameOf)});
}

// AWS states prices in the currency of the region's partition (China has its own).
absl::Status CheckPrices(const std::string& path, const std::string& currency, const Pool& pool) {
  if (core::PoolCapacityOf(pool.capacity()) != core::PoolCapacity::kSpot) {
    return common::WrongField(path + ".price_from", "AWS is asked for spot prices only: remove it, and keep price");
  }
  const std::string told = absl::StartsWith(pool.region(), "cn-") ? "CNY" : "USD";
  if (currency == told) return absl::OkStatus();
  return common::WrongField(path + ".price_from",
                            absl::StrCat("AWS tells prices of ", pool.region(), " in ", told, ", and currency is ",
                                         currency, ": change that, or remove this"));
}

std::string PriceAccount(const Pool& pool) {
  return absl::StrCat(pool.region(), " ", pool.machines().price_endpoint());
}

AwsOffer OfferOf(const Pool& pool) { return {.zone = pool.zone(), .instance_type = pool.instance_type()}; }

absl::StatusOr<std::unique_ptr<PriceSource>> OpenPrices(const Pools& pools, const std::string&) {
  return NewAwsPrices({.region = pools[0].region(),
                       .endpoint = pools[0].machines().price_endpoint(),
                       .offers = ByPool(pools, OfferOf)});
}

constexpr PriceKind kPrices{.check = CheckPrices, .account = PriceAccount, .open = OpenPrices};

}  // namespace

constinit const ProviderKind kAwsKind{.name = "aws",
                                      .fields = kFields,
                                      .resolve = Resolve,
                                      .group = Group,
                                      .account = Account,
                                      .open = Open,
                                      .prices = &kPrices};

}  // namespace rekindle::fleet
