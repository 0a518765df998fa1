// Decides when the newest generation of a job has ended, so that another may follow. A step needs every member. So a
// member that has stopped, or whose process is known to be gone, ends the generation for all. Silence proves neither.
// It ends a generation only after the lease that its members were given, when none of them steps or saves any more.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_FENCE_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_FENCE_H_

#include <string>
#include <vector>

#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Remembers that the newest generation has ended if `views` shows that. Returns whether the generation has ended. From
// then on HasEnded returns the same.
bool NoteEnd(Turn& turn, Job& job, const std::vector<MemberView>& views);

// Forgets that the newest generation has ended, so that evidence of its end is asked for anew. This is for records that
// were brought back from a copy: what they say may have been true of an older generation.
void ForgetEnd(const Turn& turn, Job& job);

// Waits for the end of a generation that has not ended. Where none of its members is heard of, an event says so, and
// the server is asked whether the members' lease has ended. An answer to any call of a member renews the lease, and the
// core sees only the members' reports.
void AwaitEnd(Turn& turn, Job& job, const std::vector<MemberView>& views);

// Takes the server's answer on whether the lease of a generation has ended.
void TakeLease(Turn& turn, Job& job, const LeaseChecked& checked);

// Takes the operator's word that a node's machine does not run any more. The effects' status is NOT_FOUND where the
// node is not known, and no job has a trainer there or is charged for it. It is FAILED_PRECONDITION where the node is
// heard of, unless the word can be about an earlier machine of that name.
void TakeNodeGone(Turn& turn, const std::string& node);

// Takes a provider's answer on which machines of silent nodes have ended.
void TakeEndedMachines(Turn& turn, const PoolReported& report);

// Lists the missing members that agents on the same machine, and providers, have to look for: members that belong to
// generations which have not ended, and whose fate is not known.
void RefreshSought(const Turn& turn, double now);

// Takes the word of an agent that has looked for processes and did not find them on its machine.
void TakeAbsentTrainers(Turn& turn, const v1::NodeReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_FENCE_H_
