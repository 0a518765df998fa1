// Makes a formed membership the newest one: in the record, the status, the list of faults, and a sentence that explains
// it.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_ANNOUNCE_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_ANNOUNCE_H_

#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Announces `next`. `views` says how each member of the membership before it stands, such as dead, stopped or awaited.
void Announce(Turn& turn, Job& job, v1::Membership next, const Origin& origin, const std::vector<MemberView>& views);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_ANNOUNCE_H_
