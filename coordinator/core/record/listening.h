// Lets a coordinator whose records were brought back from a copy listen before it decides. Events that arrive meanwhile
// are kept, and are handled all at once when every living trainer and agent has been heard of.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_LISTENING_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_LISTENING_H_

#include <vector>

#include "absl/status/status.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Keeps an event until the coordinator has listened for long enough. Returns UNAVAILABLE for a user's verb, which is
// not kept. REQUIRES: `listening.on`.
absl::Status KeepForLater(Listening& listening, const Event& event);

// Returns the events that were kept, in the order in which they are to be handled: from nodes, then from trainers, then
// all others. Listening is off afterwards, and nothing is kept.
std::vector<Event> EndListening(Listening& listening);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_LISTENING_H_
