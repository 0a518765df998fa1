// Trainers that are gone for good.
#ifndef REKINDLE_COORDINATOR_CORE_DEATHS_H_
#define REKINDLE_COORDINATOR_CORE_DEATHS_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// A member is sent away by plan at a boundary; nobody waits for it any more.
void RecordRelease(Job& job, const std::string& trainer, const std::string& reason);

// A trainer is certainly dead: remembers why, counts failed starts, fails the job after too many.
void RecordDeath(Turn& turn, Job& job, const std::string& trainer, const std::string& kind, const std::string& death);

// Another machine has its node's name: it is as good as dead for all but the members of a generation that may still
// step (IsGone in fence.h).
void GiveUp(Turn& turn, Job& job, const std::string& trainer, const std::string& kind, const std::string& death);

// One that was given up has spoken.
void TakeBack(Job& job, const std::string& trainer);

// Writes the deaths of the record's members down that are known: the membership has become theirs.
void RememberDeaths(Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_DEATHS_H_
