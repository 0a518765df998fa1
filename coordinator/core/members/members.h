// Keeps what a job's status shows of its members.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_MEMBERS_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_MEMBERS_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Shows the members of a membership that was just made the newest.
void ShowMembers(Job& job);

// Takes over what a current member says of itself: its range, which the ranks may have cut anew, its speed, and whether
// it is a straggler. An event tells when that last one changes.
void TakeMember(Turn& turn, Job& job, const v1::TrainerReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_MEMBERS_H_
