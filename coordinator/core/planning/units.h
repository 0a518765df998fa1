// Compares what jobs are to have in pools that take orders with what is there.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_UNITS_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_UNITS_H_

#include <map>
#include <string>
#include <vector>

#include "coordinator/core/state/core_state.h"
#include "coordinator/scheduler/cycle.h"

namespace rekindle::core {

// A PoolCount counts slots of one job in one pool.
struct PoolCount {
  int held = 0;
  int arrived = 0;
  int working = 0;
};

// Returns whether the job's members have made a step since the newest generation was formed.
bool IsStepping(const Job& job);

// Marks which units have a node, a trainer and a step. Drops those that were interrupted, or whose pool is avoided.
// What starts really took is learned from them.
void SyncUnits(Turn& turn, Job& job, const std::map<std::string, PoolCount>& counts);

// Makes the units those of a plan. `pools` names the indices of the plan's pools.
void TakeUnits(Turn& turn, Job& job, const scheduler::JobPlan& plan, const std::vector<std::string>& pools,
               int unit_nodes);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_UNITS_H_
