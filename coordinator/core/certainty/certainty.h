// Tells what is certain about machines and processes: whether they are gone for good, or only silent. Generations may
// follow each other only on what is certain.
#ifndef REKINDLE_COORDINATOR_CORE_CERTAINTY_CERTAINTY_H_
#define REKINDLE_COORDINATOR_CORE_CERTAINTY_CERTAINTY_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns whether the newest generation has ended. It is true also where there was no generation yet.
bool HasEnded(const Job& job);

// Returns whether that trainer is gone for good. A member of a generation that may still step counts as gone only where
// that is certain.
bool IsGone(const Job& job, const Trainer& trainer);

// Does the same as `IsGone` for a trainer that is known to be a member of the newest membership, and saves the search.
bool IsMemberGone(const Job& job, const Trainer& trainer);

// Returns whether processes of both machines see each other.
bool IsSameMachine(const v1::Machine& a, const v1::Machine& b);

// Returns whether the machine was booted between the two reports. Then nothing that ran on it before runs any more.
bool WasBootedAgain(const v1::Machine& before, const v1::Machine& now);

// Returns whether the newest report of the node's agent names that trainer among those that run.
bool ListsRunning(const NodeState& node, const std::string& trainer);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CERTAINTY_CERTAINTY_H_
