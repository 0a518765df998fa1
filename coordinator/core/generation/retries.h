// Slows down retries. A retry is a generation of the same members as one that ended without a completed step, so
// nothing has changed that would let it go better. Retries come ever slower, and in the end the job is paused.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_RETRIES_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_RETRIES_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// The job is paused after this many generations in a row that ended without a step.
inline constexpr int kMostFruitless = 20;

// Returns whether the membership `next` may be announced now, and counts it where it is a retry. If not, the job is
// shown as waiting and will be looked at again in time, or it has been paused and has given its nodes back. The count
// of retries outlives the process. A wait that was running begins anew after a restart.
bool MayForm(Turn& turn, Job& job, const v1::Membership& next);

// Forgets the retries, because the user has resumed the job. The job is then tried as if for the first time.
void ForgetRetries(v1::JobRecord& record);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_RETRIES_H_
