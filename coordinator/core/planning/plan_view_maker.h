// Makes the view of nodes and jobs that the planner decides on in one cycle.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_PLAN_VIEW_MAKER_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_PLAN_VIEW_MAKER_H_

#include "coordinator/core/planning/plan_view.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Sorts the nodes into groups, and counts what each job holds and demands. Syncs the jobs' units with the nodes that
// are there (units.h). REQUIRES: slots that nobody has any more are free (slot_placement.h).
PlanView MakePlanView(Turn& turn);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_PLAN_VIEW_MAKER_H_
