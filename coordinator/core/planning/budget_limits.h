// Limits what a job demands to what its budget has room for.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_BUDGET_LIMITS_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_BUDGET_LIMITS_H_

#include "coordinator/core/planning/plan_view.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Limits the demand to what the budget has room for. A job that cannot have its minimum keeps what it has, as more
// nodes would only cost and be of no use.
void LimitToBudget(const Turn& turn, PlanView& view, const JobSlots& slots, scheduler::Demand* demand);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_BUDGET_LIMITS_H_
