// How the coordinator gets a pool's machines: the field `machines` of a fleet file, checked.
#ifndef REKINDLE_COORDINATOR_FLEET_MACHINES_H_
#define REKINDLE_COORDINATOR_FLEET_MACHINES_H_

#include <string>

#include "absl/status/status.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

inline constexpr int kDefaultLocalMax = 8;

// Fills defaults and checks. INVALID_ARGUMENT names the field below `path` and the fix: one that is missing or that
// this provider does not have, a name that cannot be, an endpoint without TLS. REQUIRES: the provider is known, `max`
// filled in.
absl::Status ResolveMachines(const std::string& path, v1::Fleet::Pool& pool);

// Letters, digits, '-', '_' and '.': what becomes a part of host names, paths and queries.
absl::Status CheckName(const std::string& field, const std::string& name);

// What is scaled, in words: two pools of one must not be. Empty where a pool has nothing that another may have.
std::string MachineGroup(const v1::Fleet::Pool& pool);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_MACHINES_H_
