// This file checks the field `machines` of a fleet file, which says how the coordinator gets a pool's machines.
#ifndef REKINDLE_COORDINATOR_FLEET_FILE_POOL_MACHINES_H_
#define REKINDLE_COORDINATOR_FLEET_FILE_POOL_MACHINES_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/fleet/providers/contract/provider_kind.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// Fills in defaults of a pool's field `machines` and checks it. INVALID_ARGUMENT names the field below `path` and the
// fix. Errors are a field that is missing or that the provider does not have, an impossible name, and an endpoint
// without TLS. REQUIRES: `pool` is a pool of the provider `kind`, and its `max` is filled in.
absl::Status ResolvePoolMachines(const std::string& path, const ProviderKind& kind, v1::Fleet::Pool& pool);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_FILE_POOL_MACHINES_H_
