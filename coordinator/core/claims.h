// What jobs hold of a pool that takes orders: nodes that are there for them, and those that were ordered for them, as
// far as such can still come.
#ifndef REKINDLE_COORDINATOR_CORE_CLAIMS_H_
#define REKINDLE_COORDINATOR_CORE_CLAIMS_H_

#include <vector>

#include "coordinator/core/plan_view.h"

namespace rekindle::core {

// An order that only another job's node could fill, as it may where that job leaves it, is no claim yet: held beside
// what that job holds it would keep both, and nobody would have to leave.
void LimitClaims(PlanView& view);

// Slots that jobs leave, by group of those that take orders: they serve those that wait there, and no others are
// ordered for these.
std::vector<int> CountLeaving(const PlanView& view);

// Would the one above run with what `below` leaves, or does it wait for nodes that are yet to come? Those may never:
// until they are there the one below goes on. REQUIRES: slots were placed.
bool CanTake(const JobSlots& above, const JobSlots& below, const std::vector<int>& leaving);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CLAIMS_H_
