// Lets members go whose nodes must leave, as soon as the others have the state.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_LEAVING_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_LEAVING_H_

#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Releases members from an interrupted step when too few are left to go on from within it. Those that must leave do not
// wait when the others, or a store, have the state as well. What the released members computed of the step is computed
// again.
void ReleaseInterrupted(const Turn& turn, Job& job, std::vector<Candidate>& pool);

// Releases those that must leave when what the remaining members hold is of no use any more. Nobody is released while a
// silent member may come back with the rest of the state.
void ReleaseUseless(const Turn& turn, Job& job, const std::vector<MemberView>& views, std::vector<Candidate>& pool);

// Releases members of draining nodes at a boundary, when others keep the state, or when nobody is there to take it and
// they have saved it. Returns how many members the next generation may have although the job's highest number of
// workers is lower, or 0 where that number holds.
int ReleaseDraining(Turn& turn, Job& job, std::vector<Candidate>& pool, int joiners);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_LEAVING_H_
