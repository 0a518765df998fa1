#include "coordinator/fleet/providers/registry/registry.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/providers/registry/provider_kinds.h"

namespace rekindle::fleet {
namespace {

absl::StatusOr<std::shared_ptr<Provider>> Open(const ProviderKind& kind, const Pools& pools,
                                               const ProviderOptions& options) {
  auto opened = kind.open(pools, options);
  if (opened.ok()) return *std::move(opened);
  if (kind.is_local) return opened.status();
  return absl::InvalidArgumentError(
      absl::StrCat("pool ", pools[0].name(), ": machines: ", std::string(opened.status().message())));
}

ReconcileOptions OptionsOf(const v1::Fleet::Pool& pool) {
  return {.pool = pool.name(),
          .min = pool.min(),
          .max = pool.max(),
          .start_seconds = pool.machines().start_seconds() + pool.machines().boot_seconds(),
          .poll_seconds = pool.machines().poll_seconds()};
}

}  // namespace

absl::StatusOr<Providers> OpenProviders(const v1::Fleet& fleet, const ProviderOptions& options,
                                        const std::shared_ptr<LocalProvider>& local) {
  std::map<std::string, std::pair<const ProviderKind*, Pools>> by_account;
  for (const v1::Fleet::Pool& pool : fleet.pools()) {
    if (!pool.has_machines()) continue;
    const auto kind = FindProviderKind(absl::StrCat("pool ", pool.name(), ": provider"), pool.provider());
    if (!kind.ok()) return kind.status();
    auto& [kind_of_all, pools] = by_account[absl::StrCat((*kind)->name, " ", (*kind)->account(pool))];
    kind_of_all = *kind;
    pools.push_back(pool);
  }
  Providers providers;
  for (const auto& [name, account_of_kind] : by_account) {
    const auto& [kind, pools] = account_of_kind;
    Account account{.name = name};
    for (const v1::Fleet::Pool& pool : pools) account.pools.push_back(OptionsOf(pool));
    if (kind->is_local && local) {
      account.provider = local;
    } else {
      auto opened = Open(*kind, pools, options);
      if (!opened.ok()) return opened.status();
      account.provider = *std::move(opened);
    }
    if (kind->is_local) providers.local = std::static_pointer_cast<LocalProvider>(account.provider);
    providers.accounts.push_back(std::move(account));
  }
  return providers;
}

}  // namespace rekindle::fleet
