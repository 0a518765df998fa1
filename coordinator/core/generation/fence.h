// Decides when the newest generation of a job has ended, so that another may follow. A step needs every member. So one
// that has stopped, or whose process is known to be gone, ends it for all. Silence proves neither. It ends a generation
// only after the lease that its members were given, when none of them steps or saves any more.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_FENCE_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_FENCE_H_

#include <string>
#include <vector>

#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Remembers that the newest generation has ended if the views show it. Returns whether it has ended, as HasEnded does
// from now on.
bool NoteEnd(Turn& turn, Job& job, const std::vector<MemberView>& views);

// Forgets that the newest generation has ended, so that this is asked for anew. The records were brought back from a
// copy, and what they say may have been true of an older generation.
void ForgetEnd(const Turn& turn, Job& job);

// Waits for the end of a generation that has not ended. Where nobody of it is heard of, an event says so, and the
// server is asked whether the lease has ended. The server knows of the answers that members get beside their reports.
void AwaitEnd(Turn& turn, Job& job, const std::vector<MemberView>& views);

// Takes the server's answer on whether the lease of a generation has ended.
void TakeLease(Turn& turn, Job& job, const LeaseChecked& checked);

// Takes the operator's word that a node's machine does not run any more. NOT_FOUND says that no job has anything there,
// and FAILED_PRECONDITION that the node is heard of.
void TakeNodeGone(Turn& turn, const std::string& node);

// Takes a provider's word on which of the doubted nodes' machines have ended.
void TakeEndedMachines(Turn& turn, const PoolReported& report);

// Lists the members that agents of the same machine, and providers, have to look for: those of generations that have
// not ended, of which nothing is known.
void RefreshSought(const Turn& turn, double now);

// Takes the word of an agent that has looked for processes and did not find them on its machine.
void TakeAbsentTrainers(Turn& turn, const v1::NodeReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_FENCE_H_
