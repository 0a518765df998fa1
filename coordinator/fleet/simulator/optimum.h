// This file computes what a job would have cost with perfect knowledge of the traces. Every policy is measured against
// that figure.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATOR_OPTIMUM_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATOR_OPTIMUM_H_

#include "absl/status/statusor.h"
#include "coordinator/fleet/simulator/simulate.h"

namespace rekindle::fleet {

// GangOptimum and ElasticBound take a few seconds and 256 MiB at most. RESOURCE_EXHAUSTED says that the world is too
// large for that. UNIMPLEMENTED says that a gang's pools differ in speed.

// Returns the least cost of finishing a gang by its deadline, with a dynamic program over (step, pool, work done). Work
// is counted in eighths of a step. Where that would take too long, it is counted in coarser parts, down to whole steps.
// Returns `kNever` where nothing finishes in time. Without a deadline, the end of the world is the deadline.
absl::StatusOr<double> GangOptimum(const World& world, const FleetJob& job);

// Returns a lower bound of the cost of an elastic job. The bound takes the spot nodes of all pools together, the
// cheapest work first, then on-demand nodes, and starts cost nothing. Where pools differ in speed, it takes as many
// nodes as the job may have in each pool. Returns `kNever` where not even that finishes in time.
absl::StatusOr<double> ElasticBound(const World& world, const FleetJob& job);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATOR_OPTIMUM_H_
