// Makes a formed membership the newest: in the record, the status, the faults and the sentence that explains it.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_ANNOUNCE_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_ANNOUNCE_H_

#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// `views` is the survey of the membership before.
void Announce(Turn& turn, Job& job, v1::Membership next, const Origin& origin, const std::vector<MemberView>& views);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_ANNOUNCE_H_
