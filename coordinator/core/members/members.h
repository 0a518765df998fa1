// Keeps what a job's status shows of its members.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_MEMBERS_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_MEMBERS_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Shows in the job's status the members of the newest membership, which was just made.
void ShowMembers(Job& job);

// Takes over what a current member says of itself: its range of micro-batches, which the ranks may have cut anew, its
// speed, and whether it is a straggler. An event tells when it becomes a straggler or is one no more.
void TakeMember(Turn& turn, Job& job, const v1::TrainerReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_MEMBERS_H_
