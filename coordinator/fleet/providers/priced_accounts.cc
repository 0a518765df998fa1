#include "coordinator/fleet/providers/priced_accounts.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/providers/aws_prices.h"
#include "coordinator/fleet/providers/azure_prices.h"
#include "coordinator/fleet/providers/gcp_prices.h"
#include "coordinator/fleet/providers/gcp_token.h"

namespace rekindle::fleet {
namespace {

using Pools = std::vector<v1::Fleet::Pool>;

absl::StatusOr<std::unique_ptr<PriceSource>> Open(const Pools& pools, const std::string& currency) {
  const std::string& endpoint = pools[0].machines().price_endpoint();
  if (pools[0].provider() == "aws") {
    AwsPriceOptions options{.region = pools[0].region(), .endpoint = endpoint, .offers = {}};
    for (const auto& pool : pools) options.offers[pool.name()] = {pool.zone(), pool.instance_type()};
    return NewAwsPrices(std::move(options));
  }
  if (pools[0].provider() == "gcp") {
    GcpPriceOptions options{
        .endpoint = endpoint, .compute_endpoint = pools[0].machines().endpoint(), .currency = currency, .offers = {}};
    for (const auto& pool : pools) {
      options.offers[pool.name()] = {.project = pool.machines().project(),
                                     .region = pool.region(),
                                     .zone = pool.zone(),
                                     .instance_type = pool.instance_type(),
                                     .spot = pool.capacity() == "spot",
                                     .gpus = pool.device() == "cuda"};
    }
    return NewGcpPrices(std::move(options), GcpToken(ProcessVariables(), kGcpPriceScope));
  }
  std::map<std::string, AzureOffer> offers;
  for (const auto& pool : pools) offers[pool.name()] = {pool.region(), pool.instance_type(), pool.capacity() == "spot"};
  return NewAzurePrices(endpoint, currency, std::move(offers));
}

}  // namespace

absl::StatusOr<std::vector<PricedAccount>> OpenPrices(const v1::Fleet& fleet) {
  std::map<std::string, Pools> by_account;
  for (const auto& pool : fleet.pools()) {
    if (pool.price_from() != "provider") continue;
    by_account[absl::StrCat(pool.provider(), " ", pool.provider() == "aws" ? pool.region() : "", " ",
                            pool.machines().price_endpoint(), " ",
                            pool.provider() == "gcp" ? pool.machines().endpoint() : "")]
        .push_back(pool);
  }
  std::vector<PricedAccount> accounts;
  for (const auto& [name, pools] : by_account) {
    auto source = Open(pools, fleet.currency());
    if (!source.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "pool ", pools[0].name(), ": machines.price_endpoint: ", std::string(source.status().message())));
    }
    PricedAccount account{.name = name, .source = *std::move(source), .pools = {}};
    for (const auto& pool : pools) account.pools.push_back(pool.name());
    accounts.push_back(std::move(account));
  }
  return accounts;
}

}  // namespace rekindle::fleet
