// Jobs that stop whole: for their user, their budget, or because the planner has no room for them now. They save their
// state at a step boundary, then give up their nodes, but for the user alone. And what their status says of that.
#ifndef REKINDLE_COORDINATOR_CORE_HALTING_H_
#define REKINDLE_COORDINATOR_CORE_HALTING_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// Ends the reason of a halt, and is followed by what the job waits for until it goes on.
inline constexpr char kWaitsFor[] = "; waits for ";

// Why it stops, in words that stay the same until it has. REQUIRES: MustStop(job).
std::string StopReason(const Job& job);

// Its halt names the time until which it waits.
bool IsForHours(const Job& job);

// "the budget must not be crossed: ...", with what is spent now.
std::string DescribeOverBudget(const Job& job);

// What the status says of a job on its way there: "pausing: at the next step boundary, as the user asked". REQUIRES:
// MustStop(job).
std::string DescribeStopping(const Job& job);

// As PAUSED, or as one that waits; an event tells that it is paused. REQUIRES: MustStop(job).
void ShowStopped(Turn& turn, Job& job);

// Its members are heard of one after the other, before it is known how the job goes on.
void ShowRegrouping(Job& job);

// Nobody of its newest generation is heard of. REQUIRES: Job::silence.
void ShowSilence(Job& job);

// What a status says of the present, whatever has changed since it was said.
void KeepStatusTrue(Job& job);

// It has stopped, and its newest step is durable.
bool IsSaved(const Job& job);

// "its state is saved", or what is lost with its nodes.
std::string DescribeLoss(const Job& job);

// Its nodes are free for others; what is left of it there has to go.
void ReleaseNodes(Job& job, const std::string& why);

// The planner has no room for the job: it stops at the next boundary, until `Unhalt`. `why` becomes its status's
// reason.
void Halt(Turn& turn, Job& job, const std::string& kind, const std::string& why);
// Says that it goes on. A stop that members were told of cannot be taken back: that becomes the reason of what follows.
void GoOn(Turn& turn, Job& job, const std::string& why);
void Unhalt(Turn& turn, Job& job, const std::string& why);
// Lets a halted job's nodes go as soon as its state is safe, or has been waited for long enough.
void KeepHalt(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_HALTING_H_
