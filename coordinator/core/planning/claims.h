// Counts what jobs hold of a pool that takes orders: nodes that are there for them, and those that were ordered for
// them, as far as these can still come.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_CLAIMS_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_CLAIMS_H_

#include <vector>

#include "coordinator/core/planning/plan_view.h"

namespace rekindle::core {

// Drops claims on orders that only another job's node could fill, once that job leaves it. Held beside what that job
// holds, such a claim would keep both, and nobody would have to leave.
void LimitClaims(PlanView& view);

// Returns how many slots jobs leave, by group of those that take orders. They serve jobs that wait there, so that no
// others are ordered for these.
std::vector<int> CountLeaving(const PlanView& view);

// Returns whether the job above would run with what `below` leaves. Otherwise it waits for nodes that are yet to come.
// Those may never come, so that the job below goes on until they are there. REQUIRES: slots were placed.
bool CanTake(const JobSlots& above, const JobSlots& below, const std::vector<int>& leaving);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_CLAIMS_H_
