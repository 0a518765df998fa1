// Opens a change of membership, and decides at every event whether the next generation can be formed.
#ifndef REKINDLE_COORDINATOR_CORE_FORMING_H_
#define REKINDLE_COORDINATOR_CORE_FORMING_H_

#include <string>

#include "coordinator/core/state.h"
#include "coordinator/core/survey.h"

namespace rekindle::core {

// Ends the running generation: members are told to wait. `failure`: on evidence, else at an agreed boundary.
void OpenForming(Turn& turn, Job& job, const std::string& reason, bool failure);

// Above all that are known: of the record, of the store, and of every trainer heard of.
int NextGeneration(const Job& job);

// Forms the next generation, or finishes the job, or says what it waits for. REQUIRES: !job.active, !IsOver(job).
void TryForm(Turn& turn, Job& job);

// All members that live have finished: SUCCEEDED when their digests agree and what is to be kept is durable, FINISHING
// when it is not, FAILED when they differ. False: not all have, or it was FINISHING before.
bool TryFinish(Turn& turn, Job& job, const std::vector<MemberView>& views);

// Ends the job.
void EndJob(Turn& turn, Job& job, v1::JobState state, const std::string& kind, const std::string& reason);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FORMING_H_
