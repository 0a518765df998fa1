// This file turns a fleet file and traces into the world that the simulator plays.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATOR_TRACE_WORLD_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATOR_TRACE_WORLD_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/simulator/trace.h"
#include "coordinator/fleet/simulator/world.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// Makes the world from a fleet and traces. A column of a trace holds the capacity of the spot pool that the column is
// named after. Where there is no such pool, the column is named after a zone, and holds the capacity of the one spot
// pool in that zone that has no column of its own. A pool never has more than `max` nodes. On-demand capacity, and a
// spot pool without a column, are always available. All pools end with the shortest trace.
//
// INVALID_ARGUMENT says that a column belongs to no pool or to several or is given twice, that a carbon region has no
// trace, that traces of capacity differ in their step, or that there are too many pools and steps. REQUIRES: `fleet`
// comes from ResolveFleet.
absl::StatusOr<World> MakeWorld(const v1::Fleet& fleet, const std::vector<Trace>& traces, double node_watts);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATOR_TRACE_WORLD_H_
