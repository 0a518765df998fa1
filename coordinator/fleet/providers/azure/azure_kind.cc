#include "coordinator/fleet/providers/azure/azure_kind.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/fleet/providers/azure/azure.h"
#include "coordinator/fleet/providers/azure/azure_prices.h"
#include "coordinator/fleet/providers/azure/azure_token.h"
#include "coordinator/market/goal_words.h"

namespace rekindle::fleet {
namespace {

using Form = MachineField::Form;
using Pool = v1::Fleet::Pool;

constexpr MachineField kFields[] = {{"group", Form::kName, /*needed=*/true},
                                    {"subscription", Form::kName, /*needed=*/true},
                                    {"resource_group", Form::kName, /*needed=*/true},
                                    {"endpoint", Form::kEndpoint},
                                    {"price_endpoint", Form::kEndpoint}};

std::string Account(const Pool& pool) {
  return absl::StrCat(pool.machines().endpoint(), " ", pool.machines().subscription());
}

std::string Group(const Pool& pool) {
  return absl::StrJoin({Account(pool), pool.machines().resource_group(), pool.machines().group()}, " ");
}

AzureScaleSet ScaleSetOf(const Pool& pool) {
  const v1::Fleet::Machines& machines = pool.machines();
  return {
      .subscription = machines.subscription(), .resource_group = machines.resource_group(), .name = machines.group()};
}

absl::StatusOr<std::unique_ptr<Provider>> Open(const Pools& pools, const ProviderOptions&) {
  return NewAzureProvider(pools[0].machines().endpoint(), ByPool(pools, ScaleSetOf), AzureToken(ProcessVariables()));
}

std::string PriceAccount(const Pool& pool) { return pool.machines().price_endpoint(); }

AzureOffer OfferOf(const Pool& pool) {
  return {.region = pool.region(),
          .instance_type = pool.instance_type(),
          .spot = core::PoolCapacityOf(pool.capacity()) == core::PoolCapacity::kSpot};
}

absl::StatusOr<std::unique_ptr<PriceSource>> OpenPrices(const Pools& pools, const std::string& currency) {
  return NewAzurePrices(pools[0].machines().price_endpoint(), currency, ByPool(pools, OfferOf));
}

constexpr PriceKind kPrices{.account = PriceAccount, .open = OpenPrices};

}  // namespace

constinit const ProviderKind kAzureKind{
    .name = "azure", .fields = kFields, .group = Group, .account = Account, .open = Open, .prices = &kPrices};

}  // namespace rekindle::fleet
