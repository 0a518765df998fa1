// What jobs are to have in pools that take orders, held against what is there.
#ifndef REKINDLE_COORDINATOR_CORE_UNITS_H_
#define REKINDLE_COORDINATOR_CORE_UNITS_H_

#include <map>
#include <string>
#include <vector>

#include "coordinator/core/state.h"
#include "coordinator/scheduler/cycle.h"

namespace rekindle::core {

struct PoolCount {  // Slots of one job in one pool.
  int held = 0;
  int arrived = 0;
  int working = 0;
};

// How many of the job's members have made a step since they joined.
bool IsStepping(const Job& job);

// Marks which units have a node, a trainer, a step; drops those that were interrupted, or whose pool is avoided. What
// starts really took is learned from them.
void SyncUnits(Turn& turn, Job& job, const std::map<std::string, PoolCount>& counts);

// Makes the units those of a plan: `pools` names its indices.
void TakeUnits(Turn& turn, Job& job, const scheduler::JobPlan& plan, const std::vector<std::string>& pools,
               int unit_nodes);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_UNITS_H_
