// Makes a formed membership the newest: record, status, faults and the sentence that explains it.
#ifndef REKINDLE_COORDINATOR_CORE_ANNOUNCE_H_
#define REKINDLE_COORDINATOR_CORE_ANNOUNCE_H_

#include <vector>

#include "coordinator/core/formation.h"
#include "coordinator/core/state.h"
#include "coordinator/core/survey.h"

namespace rekindle::core {

// Forming.reason of a job that did not run when the coordinator was restarted: it says nothing of why the job goes on.
inline constexpr char kRestarted[] = "the coordinator was restarted";

// `views` is the survey of the membership before.
void Announce(Turn& turn, Job& job, v1::Membership next, const Origin& origin, const std::vector<MemberView>& views);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ANNOUNCE_H_
