// This file resolves fleet files, which list the pools that nodes can come from (proto/rekindle/v1/fleet.proto,
// docs/fleet.md).
#ifndef REKINDLE_COORDINATOR_FLEET_FILE_FLEET_FILE_H_
#define REKINDLE_COORDINATOR_FLEET_FILE_FLEET_FILE_H_

#include "absl/status/statusor.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// Fills in defaults and checks the fleet. INVALID_ARGUMENT names the pool, the field and what would be right. Errors
// are, for example, an unknown provider, a negative price, two pools of one name or of the same capacity (zone, type,
// kind), and a reversed range.
absl::StatusOr<v1::Fleet> ResolveFleet(const v1::Fleet& fleet);

// Removes the pools whose nodes do not have the kind of device `device`. An empty `device` removes no pool.
// INVALID_ARGUMENT says that no pool has such devices.
absl::Status KeepPoolsOf(const std::string& device, v1::Fleet* fleet);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_FILE_FLEET_FILE_H_
