// Compares the units of jobs with the nodes that are there. A unit is a slot that a job is to have in a pool that takes
// orders.
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

// Marks which units of the job have a node, a trainer and a step. Drops units that were interrupted, or whose pool is
// avoided. Learns from the units how long starts really take.
void SyncUnits(Turn& turn, Job& job, const std::map<std::string, PoolCount>& counts);

// Sets the job's units to those of a plan. `pools` has the names of the pools to which the plan's indices refer.
void TakeUnits(Turn& turn, Job& job, const scheduler::JobPlan& plan, const std::vector<std::string>& pools,
               int unit_nodes);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_UNITS_H_
