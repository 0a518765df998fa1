// Pools that take orders: how many nodes each is asked for, which of them may go, and which pools are in trouble.
#ifndef REKINDLE_COORDINATOR_CORE_POOLS_H_
#define REKINDLE_COORDINATOR_CORE_POOLS_H_

#include <string>
#include <vector>

#include "coordinator/core/plan_view.h"

namespace rekindle::core {

void TakePoolReport(Turn& turn, const PoolReported& report);

// Before a cycle: ends what is over, begins what is due. Returns when to look again.
double WatchPools(Turn& turn);

// After a cycle: orders what jobs are to have and what is kept, beside what still leaves, so that a replacement comes
// before the leaver goes. `missing`: slots by group that no node is there for; `why`: of what was changed, by group.
// Sends home nodes that serve nobody for too long. Returns when to look again.
double OrderPools(Turn& turn, const PlanView& view, const std::vector<int>& missing,
                  const std::vector<std::string>& why);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_POOLS_H_
