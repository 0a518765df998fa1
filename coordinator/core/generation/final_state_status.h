// Tells what becomes of the final state of a FINISHING job, in its status, in events and in refusals.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_FINAL_STATE_STATUS_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_FINAL_STATE_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns the store that the final checkpoint goes to.
std::string WhereFinalGoes(const Job& job);

// Shows the job as FINISHING: who keeps the state, and what the last try to save it said.
void ShowFinal(Turn& turn, Job& job);

// Emits an event which says that the final state is not saved yet, in a text that begins with `what`. Once that has
// lasted for a day, the event is an alert.
void TellOfFinal(Turn& turn, Job& job, const std::string& what);

// Returns why a finishing job cannot simply be stopped, and what can be done.
absl::Status RefuseToStop(const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_FINAL_STATE_STATUS_H_
