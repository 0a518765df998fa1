// Takes a trainer's report: who may speak, what it says about the run, and what that means for the status.
#ifndef REKINDLE_COORDINATOR_CORE_PROGRESS_H_
#define REKINDLE_COORDINATOR_CORE_PROGRESS_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// Records the report of a known job. False: refused, stale or malformed, nothing changed but the refusal.
bool AcceptReport(Turn& turn, Job& job, const v1::TrainerReport& report);

// Refuses trainers whose data or probe differ from the job's; called when those become known, too.
void CheckIdentity(Turn& turn, Job& job, const std::string& trainer);

// A member is sent away by plan at a boundary; nobody waits for it any more.
void RecordRelease(Job& job, const std::string& trainer, const std::string& reason);

// A trainer is known to be dead: remembers why, counts failed starts, fails the job after too many.
void RecordDeath(Turn& turn, Job& job, const std::string& trainer, const std::string& kind, const std::string& death);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PROGRESS_H_
