// Decides until when the members of a generation may step without an answer from the coordinator, and from when on it
// is certain that none of them steps.
#ifndef REKINDLE_COORDINATOR_CORE_CERTAINTY_GENERATION_LEASE_H_
#define REKINDLE_COORDINATOR_CORE_CERTAINTY_GENERATION_LEASE_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Sets how long the members of `next` may step without an answer from the coordinator. There is no limit (0) where no
// other node is there and none can be ordered, or where the job's user says so. Then silence never ends that
// generation.
void SetLease(const State& state, const Job& job, v1::Membership* next);

// Returns the seconds after the coordinator's last answer to any member from which on no member steps or saves. It is
// infinite where the membership has no lease.
double SilenceThatEnds(const v1::Membership& membership);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CERTAINTY_GENERATION_LEASE_H_
