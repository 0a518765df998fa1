// Lets a coordinator listen before it decides, where its records were brought back from a copy. What arrives is kept.
// It is taken in all at once when everybody who lives has been heard of.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_LISTENING_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_LISTENING_H_

#include <vector>

#include "absl/status/status.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Keeps an event for later. Returns UNAVAILABLE for a user's verb, which is not kept. REQUIRES: `listening.on`.
absl::Status KeepForLater(Listening& listening, const Event& event);

// Returns what was kept, in the order in which it is to be taken in: nodes, then trainers, then all others. Listening
// is off afterwards, and nothing is kept.
std::vector<Event> EndListening(Listening& listening);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_LISTENING_H_
