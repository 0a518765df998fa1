#include "coordinator/server/watchers/machines.h"

#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/files/file.h"
#include "common/log/log.h"
#include "common/sync/mutex.h"
#include "coordinator/fleet/providers/registry/priced_accounts.h"
#include "coordinator/fleet/providers/registry/provider_kinds.h"

namespace rekindle::coordinator {
namespace {

constexpr std::chrono::seconds kStartPatience(10);

// Returns the part of the fleet file that concerns machines: no prices, and no pools without machines.
v1::Fleet MachinesIn(const v1::Fleet& fleet) {
  v1::Fleet machines;
  for (const v1::Fleet::Pool& pool : fleet.pools()) {
    if (!pool.has_machines()) continue;
    v1::Fleet::Pool& out = *machines.add_pools() = pool;
    out.clear_price();
    out.clear_prices();
    out.clear_on_demand_price();
    out.clear_carbon_region();
    out.clear_price_from();
    out.mutable_machines()->clear_price_endpoint();
  }
  return machines;
}

// Returns the definitions of the pools of a fleet file, by the pools' names. A pool needs no change if the old and the
// new fleet file have the same definition of it.
std::map<std::string, std::string> Definitions(const v1::Fleet& machines, bool local_only) {
  std::map<std::string, std::string> definitions;
  for (const v1::Fleet::Pool& pool : machines.pools()) {
    if (!local_only || fleet::IsLocal(pool)) definitions[pool.name()] = pool.SerializeAsString();
  }
  return definitions;
}

// Returns the pools in which the two fleet files differ.
std::set<std::string> Changed(const v1::Fleet& before, const v1::Fleet& now, bool local_only) {
  const auto a = Definitions(before, local_only), b = Definitions(now, local_only);
  std::set<std::string> changed;
  for (const auto& [name, definition] : a) {
    if (b.count(name) == 0 || b.at(name) != definition) changed.insert(name);
  }
  for (const auto& [name, definition] : b) {
    if (a.count(name) == 0) changed.insert(name);
  }
  return changed;
}

}  // namespace

absl::StatusOr<fleet::Providers> Machines::Open(const v1::Fleet& fleet) const {
  absl::StatusOr<fleet::Providers> providers = fleet::OpenProviders(
      fleet,
      {.data = options_.data, .endpoint_file = options_.endpoint_file, .beside = common::DirName(options_.fleet)},
      local());
  if (providers.ok()) return providers;
  return absl::InvalidArgumentError(absl::StrCat(options_.fleet, ": ", std::string(providers.status().message())));
}

std::shared_ptr<fleet::LocalProvider> Machines::local() const {
  const common::MutexLock lock(mutex_);
  return local_;
}

absl::Status Machines::Start(const v1::Fleet& fleet, Reports reports) {
  const common::MutexLock changing(changing_);
  absl::StatusOr<fleet::Providers> providers = Open(fleet);
  if (!providers.ok()) return providers.status();
  absl::StatusOr<std::vector<fleet::PricedAccount>> prices = fleet::OpenPrices(fleet);
  if (!prices.ok()) return prices.status();
  reports_ = std::move(reports);
  fleet_ = MachinesIn(fleet);
  {
    const common::MutexLock lock(mutex_);
    local_ = providers->local;
    opened_ = true;
  }
  has_opened_.NotifyAll();
  Run(std::move(providers->accounts));
  prices_ = std::make_unique<fleet::PriceWatch>(*std::move(prices), reports_.price);
  return absl::OkStatus();
}

void Machines::Run(std::vector<fleet::Account> accounts) {
  std::set<std::string> provided;
  for (const fleet::Account& account : accounts) {
    for (const fleet::ReconcileOptions& pool : account.pools) provided.insert(pool.pool);
  }
  const common::MutexLock lock(mutex_);
  runner_ = std::make_unique<fleet::FleetRunner>(std::move(accounts), reports_.pool);
  for (auto order = orders_.begin(); order != orders_.end();) {
    if (provided.count(order->first) == 0) {
      order = orders_.erase(order);
      continue;
    }
    runner_->Order((order++)->second);
  }
}

absl::Status Machines::Reload(const v1::Fleet& fleet) {
  const common::MutexLock changing(changing_);
  if (!prices_) {
    return absl::FailedPreconditionError(
        absl::StrCat(options_.fleet,
                     ": this coordinator orders no machines any more, because it ends or because another "
                     "one has taken over: let the other one read its fleet file"));
  }
  const v1::Fleet machines = MachinesIn(fleet);
  const std::set<std::string> local = Changed(fleet_, machines, /*local_only=*/true);
  if (!local.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(options_.fleet, ": local pool '", *local.begin(),
                     "' has other machines than before: restart the coordinator for it, or take that change back"));
  }
  const std::set<std::string> changed = Changed(fleet_, machines, /*local_only=*/false);
  absl::StatusOr<std::vector<fleet::PricedAccount>> prices = fleet::OpenPrices(fleet);
  if (!prices.ok()) return prices.status();
  if (!changed.empty()) {
    absl::StatusOr<fleet::Providers> providers = Open(fleet);
    if (!providers.ok()) return providers.status();
    std::unique_ptr<fleet::FleetRunner> before;
    {
      const common::MutexLock lock(mutex_);
      before = std::move(runner_);
    }
    // `mutex_` is not held here: FleetRunner::Stop waits until a report function that runs has returned, and such a
    // function may order machines, which takes `mutex_`.
    before->Stop();
    Run(std::move(providers->accounts));
    for (const std::string& pool : changed) {
      const bool gone = Definitions(machines, /*local_only=*/false).count(pool) == 0;
      if (!gone) log::Info("machines of a pool are had as the fleet file says now", {{"pool", pool}});
      if (gone)
        log::Warning("a pool has no machines in the fleet file any more: those that run stay", {{"pool", pool}});
    }
    fleet_ = machines;
  }
  // The previous watch of prices ends before the next one starts, so that not both ask the providers for prices.
  prices_.reset();
  prices_ = std::make_unique<fleet::PriceWatch>(*std::move(prices), reports_.price);
  return absl::OkStatus();
}

void Machines::Order(core::PoolOrder order) {
  const common::MutexLock lock(mutex_);
  orders_[order.pool] = order;
  if (runner_) runner_->Order(std::move(order));
}

absl::Status Machines::SetMarket(const v1::SetMarketRequest& request) {
  std::shared_ptr<fleet::LocalProvider> local;
  {
    common::MutexLock lock(mutex_);
    // For a moment after its start, the coordinator answers calls but has not opened its machines yet. So SetMarket
    // waits for them.
    if (!has_opened_.WaitFor(lock, kStartPatience, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return opened_; })) {
      return absl::UnavailableError("the coordinator has just started, and does not have its machines yet: try again");
    }
    local = local_;
  }
  if (!local) return absl::NotFoundError("the fleet file has no local pool with `machines`");
  return local->SetMarket(request.pool(), request.nodes(),
                          request.has_notice_seconds() ? std::optional(request.notice_seconds()) : std::nullopt);
}

void Machines::Stop() {
  const common::MutexLock changing(changing_);
  std::unique_ptr<fleet::FleetRunner> runner;
  {
    const common::MutexLock lock(mutex_);
    runner = std::move(runner_);
  }
  prices_.reset();
  // `mutex_` is not held here: FleetRunner::Stop waits until a report function that runs has returned, and such a
  // function may order machines, which takes `mutex_`.
  if (runner) runner->Stop();
}

void Machines::EndLocal(double seconds) {
  if (const auto provider = local()) provider->EndAll(seconds);
}

}  // namespace rekindle::coordinator
