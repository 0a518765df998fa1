// From a fleet file to the accounts that its machines are bought with.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_REGISTRY_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/providers/fleet_runner.h"
#include "coordinator/fleet/providers/local.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

struct ProviderOptions {
  std::string data;                      // For local machines: the coordinator's folder.
  std::string endpoint_file;             // The same: where its host:port is.
  std::string beside;                    // Folder that relative paths in the fleet file start from.
  std::shared_ptr<LocalProvider> local;  // That there is already; null: one is opened where there are local pools.
};

struct Providers {
  std::vector<Account> accounts;         // Empty where no pool has machines.
  std::shared_ptr<LocalProvider> local;  // Also one of the accounts; null: no local pool.
};

// One account for all pools that share credentials and a place to ask. No network is touched here. INVALID_ARGUMENT
// names pool, field and fix, as where a trace cannot be read. REQUIRES: resolved by ResolveFleet.
absl::StatusOr<Providers> OpenProviders(const v1::Fleet& fleet, const ProviderOptions& options);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_REGISTRY_H_
