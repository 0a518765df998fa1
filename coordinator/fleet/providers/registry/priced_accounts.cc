#include "coordinator/fleet/providers/registry/priced_accounts.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/providers/registry/provider_kinds.h"

namespace rekindle::fleet {

absl::StatusOr<std::vector<PricedAccount>> OpenPrices(const v1::Fleet& fleet) {
  std::map<std::string, std::pair<const PriceKind*, Pools>> by_account;
  for (const v1::Fleet::Pool& pool : fleet.pools()) {
    if (!IsPriceAsked(pool)) continue;
    const std::string at = absl::StrCat("pool ", pool.name(), ": ");
    const auto kind = FindProviderKind(at + "provider", pool.provider());
    if (!kind.ok()) return kind.status();
    const auto prices = FindPriceKind(at + "price_from", **kind);
    if (!prices.ok()) return prices.status();
    auto& [kind_of_all, pools] = by_account[absl::StrCat((*kind)->name, " ", (*prices)->account(pool))];
    kind_of_all = *prices;
    pools.push_back(pool);
  }
  std::vector<PricedAccount> accounts;
  for (const auto& [name, account_of_kind] : by_account) {
    const auto& [kind, pools] = account_of_kind;
    auto source = kind->open(pools, fleet.currency());
    if (!source.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "pool ", pools[0].name(), ": machines.price_endpoint: ", std::string(source.status().message())));
    }
    PricedAccount account{.name = name, .source = *std::move(source), .pools = {}};
    for (const v1::Fleet::Pool& pool : pools) account.pools.push_back(pool.name());
    accounts.push_back(std::move(account));
  }
  return accounts;
}

}  // namespace rekindle::fleet
