// When the newest generation of a job has ended, so that another may follow. A step needs every member: one that has
// stopped, or whose process is known to be gone, ends it for all. Silence proves neither; it ends a generation only
// after the lease that its members were given, when none of them steps or saves any more.
#ifndef REKINDLE_COORDINATOR_CORE_FENCE_H_
#define REKINDLE_COORDINATOR_CORE_FENCE_H_

#include <string>
#include <vector>

#include "coordinator/core/state.h"
#include "coordinator/core/survey.h"

namespace rekindle::core {

// True also where there was none yet.
bool HasEnded(const Job& job);

// Is that trainer gone for good? Of a member of a generation that may still step, only what is certain counts.
bool IsGone(const Job& job, const Trainer& trainer);
// The same of one that is known to be a member of the newest membership, without looking for it there.
bool IsMemberGone(const Job& job, const Trainer& trainer);

// Remembers it where the views show that the newest generation has ended; the answer of HasEnded from now on.
bool NoteEnd(Turn& turn, Job& job, const std::vector<MemberView>& views);

// The records were brought back from a copy: what they say of the newest generation's end may have been so of an older
// one. It is asked for anew.
void ForgetEnd(Job& job);

// How long the members of `next` may step without an answer of the coordinator. None (0) where no other node is there
// and none can be ordered, or its user says so: then silence never ends that generation.
void SetLease(const State& state, const Job& job, v1::Membership* next);

// Seconds after the coordinator's last answer to any member, from which on none of them steps or saves. Infinite: it
// has no lease.
double SilenceThatEnds(const v1::Membership& membership);

// Waits for the end of a generation that has not ended. Where nobody of it is heard of, tells so, and asks the server
// whether the lease has ended, as that knows of the answers that members get beside their reports.
void AwaitEnd(Turn& turn, Job& job, const std::vector<MemberView>& views);

// What the server found.
void TakeLease(Turn& turn, Job& job, const LeaseChecked& checked);

// The operator knows that a node's machine does not run any more. NOT_FOUND: no job has anything there;
// FAILED_PRECONDITION: it is heard of.
void TakeGone(Turn& turn, const std::string& node);

// A provider says which of the doubted nodes' machines have ended.
void TakeEnded(Turn& turn, const PoolReported& report);

// Whom agents of the same machine, and providers, are to look for: members of generations that have not ended, of which
// nothing is known.
void RefreshSought(State& state, double now);
// Do processes of both see each other?
bool IsSameMachine(const v1::Machine& a, const v1::Machine& b);
// Has the machine been booted since? Then nothing that ran on it does any more.
bool WasBootedAgain(const v1::Machine& before, const v1::Machine& now);

// Does the newest report of its agent name that trainer among those that run?
bool ListsRunning(const NodeState& node, const std::string& trainer);
// An agent has looked: that process does not run on its machine any more.
void TakeAbsent(Turn& turn, const v1::NodeReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FENCE_H_
