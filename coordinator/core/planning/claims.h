// Counts what jobs hold of a pool that takes orders: nodes that are there for them, and those that were ordered for
// them, as far as these can still come.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_CLAIMS_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_CLAIMS_H_

#include <vector>

#include "coordinator/core/planning/plan_view.h"

namespace rekindle::core {

// Where jobs claim more slots of a pool than it can have, drops claims on ordered slots that are not there yet. Such a
// slot could only be one that another job has to leave first. If the claim counted beside that job's slot, both jobs
// would keep theirs, and neither would have to leave.
void LimitClaims(PlanView& view);

// Returns how many slots jobs are leaving in each group that takes orders. Jobs that wait in the group get these slots,
// so that no others are ordered for them.
std::vector<int> CountLeaving(const PlanView& view);

// Returns whether the job `above` could run with what the job `below` leaves to it. Otherwise `above` waits for nodes
// that are yet to come. Those may never come, so that `below` goes on until they are there. REQUIRES: slots were placed
// (PlaceSlots).
bool CanTake(const JobSlots& above, const JobSlots& below, const std::vector<int>& leaving);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_CLAIMS_H_
