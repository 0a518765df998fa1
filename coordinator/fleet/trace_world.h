// The fleet of a file as traces tell it: the world that the simulator plays.
#ifndef REKINDLE_COORDINATOR_FLEET_TRACE_WORLD_H_
#define REKINDLE_COORDINATOR_FLEET_TRACE_WORLD_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/trace.h"
#include "coordinator/fleet/world.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// A column tells the capacity of the spot pool of its name, else of the one spot pool in the zone of its name that has
// no column of its own; at most `max`. A spot pool without a column, and on-demand capacity, is always there. All end
// with the shortest trace. INVALID_ARGUMENT where a column is of no pool, of several or given twice, a carbon region
// has no trace, traces of capacity differ in their step, or pools and steps are too many.
// REQUIRES: `fleet` comes from ResolveFleet.
absl::StatusOr<World> MakeWorld(const v1::Fleet& fleet, const std::vector<Trace>& traces, double node_watts);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_TRACE_WORLD_H_
