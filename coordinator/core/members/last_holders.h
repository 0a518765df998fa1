// Decides what happens when all that have the state of a running job must leave and nobody is there to take it over.
// Then the state has to be saved first.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_LAST_HOLDERS_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_LAST_HOLDERS_H_

#include <string>
#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns whether the members of `pool` stay because what they have is not durable yet. Where their nodes drain, they
// train on and try again with growing pauses until it is durable or the limit of a drain has come. Where others get
// their slots, there is one more try. REQUIRES: all of `pool` must leave.
bool StayToSave(Turn& turn, Job& job, const std::vector<Candidate>& pool);

// Returns those of `pool` that need not leave.
std::vector<Candidate> WithoutLeaving(const State& state, const Job& job, const std::vector<Candidate>& pool);

// Returns whether those that stay have the whole of the newest state of `pool`.
bool StaysWithOthers(const State& state, const Job& job, const std::vector<Candidate>& pool);

// Returns whether the newest state is in no store, and those that stay do not have all of it. Then the members go on,
// however few they are, so that the state can be saved or handed to those that stay.
bool LeavesUnsaved(const State& state, const Job& job, const std::vector<Candidate>& pool);

// As long as saves fail, an event says so at this interval.
inline constexpr double kTellSavesSeconds = 3600;
// Returns the pause before the next try: 1 s after the first failure, doubled each time, at most 60 s. REQUIRES:
// `failed` is above 0.
double PauseAfterSaves(int failed);
// Returns what the first of these trainers that has an error says of its newest save, or `otherwise` where none has an
// error.
std::string SaveError(const Job& job, const std::vector<std::string>& trainers, const std::string& otherwise);
inline constexpr char kNoAnswer[] = "its store did not answer in time";

// Returns whether the newest state that they have is durable or is not meant to be. Where they have none, there is
// nothing to save. The state may be unsaved even at a boundary: a node's notice may come when the others have stopped
// already, without a checkpoint.
bool IsSaved(const Job& job, const std::vector<Candidate>& pool);

// Returns whether the pause after a failed save still lasts, so that members must not stop for the next try. The job is
// looked at again when the pause is over.
bool PausesBeforeSave(const Turn& turn, Job& job);

// Forgets the tries to save, because others are there or all of the state is durable.
void ForgetSaves(Job& job);

// Emits which steps went with the last member, unless all are durable. REQUIRES: that member is known to be gone.
void TellLostSteps(Turn& turn, const Job& job, const std::string& why);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_LAST_HOLDERS_H_
