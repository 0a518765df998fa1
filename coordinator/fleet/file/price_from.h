// This file checks the field `price_from` of a fleet file, which says where a pool's prices come from.
#ifndef REKINDLE_COORDINATOR_FLEET_FILE_PRICE_FROM_H_
#define REKINDLE_COORDINATOR_FLEET_FILE_PRICE_FROM_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/fleet/providers/contract/provider_kind.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// Checks a pool's field `price_from`. INVALID_ARGUMENT names the field below `path` and the fix. REQUIRES: `pool` is a
// pool of the provider `kind`, and is resolved except for `price_from`.
absl::Status CheckPriceFrom(const std::string& path, const std::string& currency, const ProviderKind& kind,
                            const v1::Fleet::Pool& pool);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_FILE_PRICE_FROM_H_
