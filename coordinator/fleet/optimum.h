// What perfect knowledge of the traces would have cost: the figure every policy is measured against.
#ifndef REKINDLE_COORDINATOR_FLEET_OPTIMUM_H_
#define REKINDLE_COORDINATOR_FLEET_OPTIMUM_H_

#include "absl/status/statusor.h"
#include "coordinator/fleet/simulate.h"

namespace rekindle::fleet {

// Both take a few seconds and 256 MiB at most. RESOURCE_EXHAUSTED: the world is too large for that.
// UNIMPLEMENTED of a gang: pools differ in speed.

// The least cost of finishing a gang by its deadline, by a dynamic program over (step, pool, work done); work is
// counted in eighths of a step, in coarser parts, down to whole steps, where that would take too long. kNever: nothing
// finishes in time. Without a deadline, the end of the world is one.
absl::StatusOr<double> GangOptimum(const World& world, const SimulatedJob& job);

// A lower bound for an elastic job: spot nodes of all pools together, the cheapest work first, the rest on demand,
// starts for nothing. Where pools differ in speed, as many nodes as it may have in each of them. kNever: not even that
// finishes in time.
absl::StatusOr<double> ElasticBound(const World& world, const SimulatedJob& job);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_OPTIMUM_H_
