// Records which trainers are gone for good.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_DEATHS_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_DEATHS_H_

#include <string>

#include "coordinator/core/state/core_state.h"
#include "coordinator/core/state/fault_kind.h"

namespace rekindle::core {

// Records that a trainer was sent away by plan, so that nobody waits for it any more.
void RecordRelease(const Turn& turn, Job& job, const std::string& trainer, const std::string& reason);

// Records that a trainer is certainly dead, and why. Counts failed starts, and fails the job after too many.
void RecordDeath(Turn& turn, Job& job, const std::string& trainer, FaultKind kind, const std::string& death);

// Records that another machine has the name of the trainer's node now. The trainer then counts as dead, except as a
// member of a generation that may still step (IsGone in certainty.h).
void GiveUp(Turn& turn, Job& job, const std::string& trainer, FaultKind kind, const std::string& death);

// Counts a trainer as alive again that was given up (`GiveUp`) and has reported since.
void TakeTrainerBack(const Turn& turn, Job& job, const std::string& trainer);

// Writes the known deaths of the membership's members into the job's record, in place of the deaths that are there. The
// caller does so when the job has got another membership.
void RememberDeaths(const Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_DEATHS_H_
