// Finds gangs that wait for each other's slots.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_GANG_CIRCLES_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_GANG_CIRCLES_H_

#include <cstddef>
#include <vector>

#include "coordinator/core/planning/plan_view.h"

namespace rekindle::core {

// Returns how many slots of the group the plan allots to its job.
int AllottedIn(const scheduler::JobPlan& plan, size_t group);

// Stops a gang where gangs would wait for each other. A gang works on until it has moved to another pool, and keeps all
// of its slots meanwhile. Where gangs would move to slots that other gangs keep, nobody would ever move. Then gangs
// stop that lose slots to jobs with a better claim, the one of the lowest priority first, until the others can move.
void StopInCircles(PlanView& view, std::vector<scheduler::JobPlan>& plans);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_GANG_CIRCLES_H_
