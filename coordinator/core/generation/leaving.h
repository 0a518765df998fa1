// Lets members go whose nodes must leave, as soon as the others have the state.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_LEAVING_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_LEAVING_H_

#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Releases the members that must leave while no generation can be formed, because too few members are there or the job
// stops. They are released at once where the others, or a store, have the state as well. What the released members
// computed of an interrupted step is computed again.
void ReleaseWaiting(const Turn& turn, Job& job, std::vector<Candidate>& pool);

// Releases the members that must leave, when no member holds state that can still be used. Nobody is released while a
// silent member may come back with the rest of the state.
void ReleaseUseless(const Turn& turn, Job& job, const std::vector<MemberView>& views, std::vector<Candidate>& pool);

// Releases members of draining nodes at a boundary, when others keep the state, or when nobody is there to take it and
// they have saved it. Returns how many members the next generation may have while the state is handed on, even if the
// job's highest number of workers is lower. Returns 0 where that highest number holds.
int ReleaseDraining(Turn& turn, Job& job, std::vector<Candidate>& pool, int joiners);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_LEAVING_H_
