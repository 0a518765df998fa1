// A coordinator on records that were brought back from a copy listens first: what arrives is kept, and taken in all at
// once when whoever lives has been heard of.
#ifndef REKINDLE_COORDINATOR_CORE_LISTENING_H_
#define REKINDLE_COORDINATOR_CORE_LISTENING_H_

#include <vector>

#include "absl/status/status.h"
#include "coordinator/core/state.h"

namespace rekindle::core {

// Keeps an event for later, but for users' verbs: those are UNAVAILABLE. REQUIRES: listening.on.
absl::Status KeepForLater(Listening& listening, const Event& event);

// What was kept, in the order in which it is to be taken in: nodes, trainers, all others. It is empty then, and off.
std::vector<Event> EndListening(Listening& listening);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_LISTENING_H_
