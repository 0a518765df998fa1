// Tells what is certain about machines and processes: whether they are gone for good, or only silent. A generation may
// follow another only where it is certain that the other has ended.
#ifndef REKINDLE_COORDINATOR_CORE_CERTAINTY_CERTAINTY_H_
#define REKINDLE_COORDINATOR_CORE_CERTAINTY_CERTAINTY_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns whether the newest generation of the job has ended. It is true also where there was no generation yet.
bool HasEnded(const Job& job);

// Returns whether `trainer` is gone for good. A member of a generation that may still step counts as gone only where
// its end is certain.
bool IsGone(const Job& job, const Trainer& trainer);

// Returns what `IsGone` returns, for a trainer that is known to be a member of the newest membership. It saves the
// search for the member.
bool IsMemberGone(const Job& job, const Trainer& trainer);

// Returns whether `a` and `b` are the same machine, on which processes see each other.
bool IsSameMachine(const v1::Machine& a, const v1::Machine& b);

// Returns whether the machine was booted between two reports of it, `before` and `now`. Then nothing that ran on the
// machine before runs any more.
bool WasBootedAgain(const v1::Machine& before, const v1::Machine& now);

// Returns whether the newest report of the node's agent names `trainer` among the trainers that run.
bool ListsRunning(const NodeState& node, const std::string& trainer);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CERTAINTY_CERTAINTY_H_
