// A generation that ended without a completed step and is followed by one of the same members is a retry: nothing has
// changed that would let it go better. Retries come ever slower, and in the end the job is paused.
#ifndef REKINDLE_COORDINATOR_CORE_RETRIES_H_
#define REKINDLE_COORDINATOR_CORE_RETRIES_H_

#include "coordinator/core/state.h"

namespace rekindle::core {

// Such generations in a row after which the job is paused.
inline constexpr int kMostFruitless = 20;

// Whether `next` may be announced now, and counts it. If not, the job is shown as waiting and will be looked at again
// in time, or it has been paused and has given its nodes back. How often was tried outlives this process; a wait that
// was running begins anew after a restart.
bool MayForm(Turn& turn, Job& job, const v1::Membership& next);

// The user has resumed the job: it is tried as if for the first time.
void ForgetRetries(v1::JobRecord& record);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RETRIES_H_
