// Limits events about what may change back and forth many times a second: the ranges of a job's members, and which of
// them are stragglers. The first change has an event at once. The changes that follow within a minute have one event
// together, so that they do not crowd out other events.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_FLAPPING_H_
#define REKINDLE_COORDINATOR_CORE_STATE_FLAPPING_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Emits the event that the ranges of a step were cut anew. Returns false where the event comes later, together with
// others.
bool TellRanges(Turn& turn, Job& job, const std::string& text, const std::string& node);

// Emits the event that a member has become a straggler or is none any more, as its status shows already. Returns false
// where the event comes later, together with others.
bool TellStraggler(Turn& turn, Job& job, const std::string& kind, const std::string& text, const std::string& node);

// Emits one event for all changes of a kind that have gathered for a minute, and wakes the job when the next such event
// is due.
void TellGathered(Turn& turn, Job& job);

// `TellRangesNow` and `TellAllNow` emit at once the events that have gathered. The first emits only what concerns the
// ranges, and the second emits all of it when the job ends.
void TellRangesNow(Turn& turn, Job& job);
void TellAllNow(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_FLAPPING_H_
