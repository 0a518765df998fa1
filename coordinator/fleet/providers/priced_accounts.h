// From a fleet file to who is asked what its nodes cost.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_PRICED_ACCOUNTS_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_PRICED_ACCOUNTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/providers/price_watch.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// Of the pools with `price_from: provider`; one account for all that are asked for in one place. No network is touched
// here. INVALID_ARGUMENT names pool, field and fix. REQUIRES: resolved by ResolveFleet.
absl::StatusOr<std::vector<PricedAccount>> OpenPrices(const v1::Fleet& fleet);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_PRICED_ACCOUNTS_H_
