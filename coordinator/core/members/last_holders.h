// Decides what happens when all trainers that hold the state of a running job must leave, and no other trainer is there
// to take the state over. Then the state has to be saved first.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_LAST_HOLDERS_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_LAST_HOLDERS_H_

#include <string>
#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns whether the members of `pool` stay because the state that they hold is not durable yet. Where their nodes
// drain, they train on and try to save again with growing pauses, until the state is durable or the limit of a drain
// has come. Where other jobs get their slots, there is one more try. REQUIRES: all of `pool` must leave.
bool StayToSave(Turn& turn, Job& job, const std::vector<Candidate>& pool);

// Returns the candidates of `pool` that need not leave.
std::vector<Candidate> WithoutLeaving(const State& state, const Job& job, const std::vector<Candidate>& pool);

// Returns whether the candidates of `pool` that stay have the whole of the newest state.
bool StaysWithOthers(const State& state, const Job& job, const std::vector<Candidate>& pool);

// Returns whether the newest state is in no store, and the candidates of `pool` that stay do not have all of it. Then
// the members go on, however few they are, so that the state can be saved or handed to those that stay.
bool LeavesUnsaved(const State& state, const Job& job, const std::vector<Candidate>& pool);

// As long as saves of the state fail, an event tells of it at this interval in seconds.
inline constexpr double kTellSavesSeconds = 3600;
// Returns the pause before the next try to save: 1 s after the first failure, doubled each time, at most 60 s.
// REQUIRES: `failed` is above 0.
double PauseAfterSaves(int failed);
// Returns the error of the newest save of the first of `trainers` that reports one, or `otherwise` where none does.
std::string SaveError(const Job& job, const std::vector<std::string>& trainers, const std::string& otherwise);
inline constexpr char kNoAnswer[] = "its store did not answer in time";

// Returns whether the newest state of `pool` is durable or is not meant to be. Where `pool` has no state, there is
// nothing to save. The state may be unsaved even at a boundary: a node's notice may come when the other members have
// stopped already, without a checkpoint.
bool IsSaved(const Job& job, const std::vector<Candidate>& pool);

// Returns whether the pause after a failed save still lasts, so that members must not stop for the next try to save.
// The job is looked at again when the pause is over.
bool PausesBeforeSave(const Turn& turn, Job& job);

// Forgets the failed tries to save the state, because other trainers hold it or all of it is durable.
void ForgetSaves(Job& job);

// Emits an event that names the steps that were lost with the last member, unless all steps are durable. REQUIRES: that
// member is known to be gone.
void TellLostSteps(Turn& turn, const Job& job, const std::string& why);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_LAST_HOLDERS_H_
