// Who says what a pool's nodes cost: the field `price_from` of a fleet file, checked.
#ifndef REKINDLE_COORDINATOR_FLEET_PRICE_FROM_H_
#define REKINDLE_COORDINATOR_FLEET_PRICE_FROM_H_

#include <string>

#include "absl/status/status.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// INVALID_ARGUMENT names the field below `path` and the fix. REQUIRES: the pool is resolved but for this.
absl::Status CheckPriceFrom(const std::string& path, const std::string& currency, const v1::Fleet::Pool& pool);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PRICE_FROM_H_
