// Charges jobs for time that the coordinator did not see pass: it was away, or its machine's clock was set.
#ifndef REKINDLE_COORDINATOR_CORE_CHARGES_ABSENCE_H_
#define REKINDLE_COORDINATOR_CORE_CHARGES_ABSENCE_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Charges the job for the time that the coordinator was away. The caller must call this after a coordinator start. The
// job pays for all nodes that it had, for as long as their machines may have run, because nobody knows when a silent
// machine ended.
void CountAbsence(Turn& turn, Job& job);

// Follows a change of the machine's clock by `step` seconds. The time up to which the job's costs are counted, and the
// ends of its spending grants, move with the clock. So no time is charged twice or left out, and no grant ends earlier
// or later. The time until which the job does not use NCCL moves, too.
void FollowClock(const Turn& turn, double step, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CHARGES_ABSENCE_H_
