// This file turns a fleet file into the price sources that are asked what its nodes cost.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_REGISTRY_PRICED_ACCOUNTS_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_REGISTRY_PRICED_ACCOUNTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/providers/driving/price_watch.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// Opens the price sources of the pools with `price_from: provider`, one account for all pools whose prices one endpoint
// states. It does not touch the network. INVALID_ARGUMENT names the pool, the field and the fix, also where the
// provider is not known or not asked for prices. REQUIRES: ResolveFleet has resolved the fleet.
absl::StatusOr<std::vector<PricedAccount>> OpenPrices(const v1::Fleet& fleet);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_REGISTRY_PRICED_ACCOUNTS_H_
