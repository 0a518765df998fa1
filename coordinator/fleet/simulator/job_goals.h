// This file reads from a job file what the job wants from the fleet, such as its deadline and its budget.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATOR_JOB_GOALS_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATOR_JOB_GOALS_H_

#include "absl/status/statusor.h"
#include "coordinator/fleet/simulator/simulate.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::fleet {

// Returns the job with its goals and estimates. INVALID_ARGUMENT says that a goal or an estimate is missing or
// impossible.
absl::StatusOr<FleetJob> ResolveGoals(const v1::JobSpec& spec);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATOR_JOB_GOALS_H_
