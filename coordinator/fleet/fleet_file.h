// Fleet files: the pools where nodes can be had (proto/rekindle/v1/fleet.proto, docs/fleet.md).
#ifndef REKINDLE_COORDINATOR_FLEET_FLEET_FILE_H_
#define REKINDLE_COORDINATOR_FLEET_FLEET_FILE_H_

#include "absl/status/statusor.h"
#include "coordinator/fleet/simulate.h"
#include "rekindle/v1/fleet.pb.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::fleet {

// Fills defaults and checks. INVALID_ARGUMENT names the pool, the field and what would be right: an unknown provider, a
// negative price, two pools of one name or of one capacity (zone, type, kind), a range turned round.
absl::StatusOr<v1::Fleet> ResolveFleet(const v1::Fleet& fleet);

// Takes away the pools that are not of that kind of device; empty: keeps all. INVALID_ARGUMENT: none is.
absl::Status KeepPoolsOf(const std::string& device, v1::Fleet* fleet);

// What the job asks of the fleet. INVALID_ARGUMENT where a goal or an estimate is missing or cannot be.
absl::StatusOr<SimulatedJob> ResolveGoals(const v1::JobSpec& spec);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_FLEET_FILE_H_
