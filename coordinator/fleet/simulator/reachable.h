// This file finds out what a job could reach at best, and so whether its deadline and its budget can be kept at all.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATOR_REACHABLE_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATOR_REACHABLE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/fleet/simulator/simulate.h"

namespace rekindle::fleet {

// Returns the world with only the pools that the job's `capacity` lets it use.
World AllowedTo(const FleetJob& job, const World& world);

struct Finish {
  // `hours` is how many hours after the beginning of the world the job finishes. It is `kNever` where the world ends
  // before the job does.
  double hours = scheduler::kNever;
  // `cost` is about what a plan costs that finishes after `hours`.
  double cost = 0;
};

// Returns the earliest finish with perfect knowledge of the traces, on the pools that the job may use, whatever the
// deadline and the budget are. The result is exact for a gang. For an elastic job it is a bound: at each moment as many
// nodes work as possible, and moves cost nothing.
Finish EarliestFinish(const World& world, const FleetJob& job);

// Returns the least that the job can cost with perfect knowledge of the traces, on the pools that it may use.
// RESOURCE_EXHAUSTED is explained in optimum.h.
absl::StatusOr<double> LeastCost(const World& world, const FleetJob& job);

// Returns OK where the job's deadline can be kept at all. FAILED_PRECONDITION states the earliest finish and what it
// costs.
absl::Status CheckDeadline(const World& world, const FleetJob& job);

// Returns OK where the job's deadline and budget can be kept at all. FAILED_PRECONDITION states the earliest finish and
// what it costs, or the least budget that would be enough.
absl::Status CheckReachable(const World& world, const FleetJob& job);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATOR_REACHABLE_H_
