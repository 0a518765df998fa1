// What may change to and fro many times a second: the ranges of a job's members, and who of them is a straggler. The
// first change is told at once, those that follow within a minute together, so that they do not crowd out other events.
#ifndef REKINDLE_COORDINATOR_CORE_FLAPPING_H_
#define REKINDLE_COORDINATOR_CORE_FLAPPING_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// The ranges of a step were cut anew. False: it will be told later.
bool TellRanges(Turn& turn, Job& job, const std::string& text, const std::string& node);

// A member has become a straggler, or is none any more, as its status shows already. False: as above.
bool TellStraggler(Turn& turn, Job& job, const std::string& kind, const std::string& text, const std::string& node);

// Tells what has gathered for a minute, and wakes the job when the next is due.
void TellGathered(Turn& turn, Job& job);

// Tells all that has gathered: of the ranges alone, or as the job ends.
void TellRangesNow(Turn& turn, Job& job);
void TellAllNow(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FLAPPING_H_
