// This file turns a fleet file into the accounts through which its machines are bought.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_REGISTRY_REGISTRY_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_REGISTRY_REGISTRY_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/providers/contract/provider_kind.h"
#include "coordinator/fleet/providers/driving/fleet_runner.h"
#include "coordinator/fleet/providers/local/local.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

struct Providers {
  // `accounts` is empty where no pool has machines.
  std::vector<Account> accounts;
  // `local` is the provider of local machines, which is also in one of the accounts. It is null where there is no local
  // pool.
  std::shared_ptr<LocalProvider> local;
};

// Opens one account for all pools that share credentials and an endpoint. Pools of local machines get the provider
// `local`, which exists already, or a new one where that is null. OpenProviders does not touch the network.
// INVALID_ARGUMENT names the pool, the field and the fix, for example where a trace cannot be read or the provider is
// not known. REQUIRES: ResolveFleet has resolved the fleet.
absl::StatusOr<Providers> OpenProviders(const v1::Fleet& fleet, const ProviderOptions& options,
                                        const std::shared_ptr<LocalProvider>& local = nullptr);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_REGISTRY_REGISTRY_H_
