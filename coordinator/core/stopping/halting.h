// Stops whole jobs: for their user, their budget, or because the planner has no room for them now. They save their
// state at a step boundary. Then they give up their nodes, unless the user alone has stopped them. This file also says
// what their status shows of that.
#ifndef REKINDLE_COORDINATOR_CORE_STOPPING_HALTING_H_
#define REKINDLE_COORDINATOR_CORE_STOPPING_HALTING_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// These words end the reason of a halt. What the job waits for until it goes on follows them.
inline constexpr char kWaitsFor[] = "; waits for ";

// Returns why the job stops, in words that stay the same until it has stopped. REQUIRES: MustStop(job) is true.
std::string StopReason(const Job& job);

// Returns whether the job is halted until its off-peak hours.
bool IsForHours(const Job& job);

// Returns "the budget must not be crossed: ...", with what is spent now.
std::string DescribeOverBudget(const Job& job);

// Returns what the status says while the job is about to stop, such as "pausing: at the next step boundary, as the user
// asked". REQUIRES: MustStop(job) is true.
std::string DescribeStopping(const Job& job);

// Shows in that state that the job has stopped, and why. REQUIRES: MustStop(job) is true, or a budget has paused the
// job.
void SetStopped(const Turn& turn, Job& job, v1::JobState state);

// Shows the job as PAUSED, or as one that waits. An event tells that it is paused. REQUIRES: MustStop(job) is true.
void ShowStopped(Turn& turn, Job& job);

// Shows that the job regroups: its members are heard of one after the other, before it is known how it goes on.
void ShowRegrouping(const Turn& turn, Job& job);

// Shows that nobody of the job's newest generation is heard of. REQUIRES: Job::silence is set.
void ShowSilence(const Turn& turn, Job& job);

// Keeps what the status says of the present true, whatever has changed since it was said.
void KeepStatusTrue(const Turn& turn, Job& job);

// Returns whether the job has stopped and its newest step is durable.
bool IsSaved(const Job& job);

// Returns "its state is saved", or what is lost with the job's nodes.
std::string DescribeLoss(const Job& job);

// Frees the job's nodes for others. What is left of the job on them has to go.
void ReleaseNodes(const Turn& turn, Job& job, const std::string& why);

// Says why the planner has no room for a job: it waits for its off-peak hours, for nodes, or for a job above it.
enum class HaltKind { kOffPeak, kWaiting, kPreempted };

// Stops the job at the next boundary, until `Unhalt`, because the planner has no room for it. `why` becomes the reason
// in its status.
void Halt(Turn& turn, Job& job, HaltKind kind, const std::string& why);
// Emits that the job goes on. A stop that members were told of cannot be taken back, so `why` becomes the reason of the
// change that follows.
void GoOn(Turn& turn, Job& job, const std::string& why);
void Unhalt(Turn& turn, Job& job, const std::string& why);
// Lets a halted job's nodes go as soon as its state is safe, or has been waited for long enough.
void KeepHalt(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STOPPING_HALTING_H_
