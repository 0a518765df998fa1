// Stops whole jobs: for their user, for their budget, or because the planner has no room for them now. A job that stops
// saves its state at a step boundary. Then it gives up its nodes, unless the user alone has stopped it. This file also
// says what the status of such a job shows.
#ifndef REKINDLE_COORDINATOR_CORE_STOPPING_HALTING_H_
#define REKINDLE_COORDINATOR_CORE_STOPPING_HALTING_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// These words, in the reason of a halt, precede what the job waits for before it goes on.
inline constexpr char kWaitsFor[] = "; waits for ";

// Returns why the job must stop, in words that stay the same until it has stopped. REQUIRES: MustStop(job) is true.
std::string StopReason(const Job& job);

// Returns whether the job is halted until its off-peak hours.
bool IsForHours(const Job& job);

// Returns the sentence "the budget must not be crossed: ...", with what is spent now.
std::string DescribeOverBudget(const Job& job);

// Returns what a job's status says while it is about to stop, such as "pausing: at the next step boundary, as the user
// asked". REQUIRES: MustStop(job) is true.
std::string DescribeStopping(const Job& job);

// Shows, with `state`, that the job has stopped, and why. REQUIRES: MustStop(job) is true, or a budget has paused the
// job.
void SetStopped(const Turn& turn, Job& job, v1::JobState state);

// Shows a job that has stopped as PAUSED, or as one that waits. An event tells that it is paused. REQUIRES:
// MustStop(job) is true.
void ShowStopped(Turn& turn, Job& job);

// Shows that the job regroups. How the job goes on is known only when each of its members has been heard of or given
// up.
void ShowRegrouping(const Turn& turn, Job& job);

// Shows that no member of the job's newest generation is heard of. REQUIRES: Job::silence is set.
void ShowSilence(const Turn& turn, Job& job);

// Brings the job's status up to date where it speaks of the present, whatever has changed since it was written.
void KeepStatusTrue(const Turn& turn, Job& job);

// Returns whether the job has stopped and its newest step is durable.
bool IsSaved(const Job& job);

// Returns "its state is saved", or which state is lost with the job's nodes.
std::string DescribeLoss(const Job& job);

// Frees the job's nodes for others. Trainers of the job that still run on them have to end.
void ReleaseNodes(const Turn& turn, Job& job, const std::string& why);

// HaltKind says why the planner has no room for a job: the job waits for its off-peak hours, for nodes, or for a job
// above it.
enum class HaltKind { kOffPeak, kWaiting, kPreempted };

// Stops the job at the next step boundary, until `Unhalt`, because the planner has no room for it. `why` becomes the
// reason in its status.
void Halt(Turn& turn, Job& job, HaltKind kind, const std::string& why);
// Emits the event that the job goes on. Members that were told to stop at a boundary still stop there, and `why`
// becomes the reason for the change of members that follows.
void GoOn(Turn& turn, Job& job, const std::string& why);
void Unhalt(Turn& turn, Job& job, const std::string& why);
// Frees a halted job's nodes as soon as its state is saved, or once the job has had long enough to save it.
void KeepHalt(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STOPPING_HALTING_H_
