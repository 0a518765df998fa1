// Opens a change of membership, and decides at every event whether the next generation can be formed.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_NEXT_GENERATION_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_NEXT_GENERATION_H_

#include <string>

#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Forms the next generation, or finishes the job, or shows what the job waits for. REQUIRES: the job is neither active
// nor over.
void TryForm(Turn& turn, Job& job);

// Finishes the job when all members that live have finished. The job has SUCCEEDED when their digests agree and what is
// to be kept is durable. It is FINISHING when that is not durable, and has FAILED when the digests differ. Returns
// false when not all have finished, or when the job was FINISHING before.
bool TryFinish(Turn& turn, Job& job, const std::vector<MemberView>& views);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_NEXT_GENERATION_H_
