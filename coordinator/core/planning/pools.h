// Runs pools that take orders: how many nodes each is asked for, which of them may go, and which pools are in trouble.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_POOLS_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_POOLS_H_

#include <string>
#include <vector>

#include "coordinator/core/planning/plan_view.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

void TakePoolReport(Turn& turn, const PoolReported& report);

// Ends what is over, and begins what is due, before a cycle. Returns when to look again.
double WatchPools(Turn& turn);

// Orders, after a cycle, what jobs are to have and what is kept. What still leaves is ordered on top, so that a
// replacement comes before the leaver goes. `missing` are the slots by group for which there is no node, and `why` says
// by group why something was changed. Sends nodes home that serve nobody for too long. Returns when to look again.
double OrderPools(Turn& turn, const PlanView& view, const std::vector<int>& missing,
                  const std::vector<std::string>& why);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_POOLS_H_
