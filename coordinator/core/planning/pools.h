// Runs pools that take orders: how many nodes each is asked for, which of them may go, and which pools are in trouble.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_POOLS_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_POOLS_H_

#include <string>
#include <vector>

#include "coordinator/core/planning/plan_view.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

void TakePoolReport(Turn& turn, const PoolReported& report);

// Prepares the pools for a planning cycle: lets avoided pools be tried again when the time to avoid them is over, and
// avoids pools that are in trouble. Returns the time at which WatchPools has to be called again.
double WatchPools(Turn& turn);

// Returns which jobs the machines of a pool will run that are still to come: those that the newest machine there runs.
// Where that machine does not run all, another one is tried after a while, because the pool's image may be mended, and
// each further machine that does not run all doubles that time.
scheduler::OwnCode RunsOnNext(Turn& turn, PoolState& pool, const OrderedNodes& nodes);

// Orders, after a planning cycle, the nodes that jobs are to have and those that a pool always keeps. Nodes that are
// still leaving are ordered on top, so that a replacement comes before the leaver goes. `missing` counts by group the
// slots for which there is no node, and `why` holds by group the reason for a changed order. Tells nodes to leave that
// have served no job for too long. Returns the time at which OrderPools has to be called again.
double OrderPools(Turn& turn, const PlanView& view, const std::vector<int>& missing,
                  const std::vector<std::string>& why);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_POOLS_H_
