// Limits events about what may change to and fro many times a second: the ranges of a job's members, and which of them
// are stragglers. The first change is told at once. The changes that follow within a minute are told together, so that
// they do not crowd out other events.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_FLAPPING_H_
#define REKINDLE_COORDINATOR_CORE_STATE_FLAPPING_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Tells that the ranges of a step were cut anew. Returns false where that will be told later.
bool TellRanges(Turn& turn, Job& job, const std::string& text, const std::string& node);

// Tells that a member has become a straggler or is none any more, as its status shows already. Returns false where that
// will be told later.
bool TellStraggler(Turn& turn, Job& job, const std::string& kind, const std::string& text, const std::string& node);

// Tells what has gathered for a minute, and wakes the job when the next part is due.
void TellGathered(Turn& turn, Job& job);

// These two emit at once what has gathered. `TellRangesNow` emits only what concerns the ranges, and `TellAllNow` emits
// all of it when the job ends.
void TellRangesNow(Turn& turn, Job& job);
void TellAllNow(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_FLAPPING_H_
