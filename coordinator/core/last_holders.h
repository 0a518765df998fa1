// All that have the state of a running job must leave, and nobody is there to take it over: first it has to be saved.
#ifndef REKINDLE_COORDINATOR_CORE_LAST_HOLDERS_H_
#define REKINDLE_COORDINATOR_CORE_LAST_HOLDERS_H_

#include <string>
#include <vector>

#include "coordinator/core/formation.h"
#include "coordinator/core/state.h"

namespace rekindle::core {

// What they have is not durable yet: do they stay? Where their nodes drain they train on, and try again with growing
// pauses, until it is, or the limit of a drain has come. Where others get their slots there is one more try.
// REQUIRES: all of `pool` must leave.
bool StayToSave(Turn& turn, Job& job, const std::vector<Candidate>& pool);

// Those of `pool` that need not leave.
std::vector<Candidate> WithoutLeaving(const State& state, const Job& job, const std::vector<Candidate>& pool);

// Do those that stay have the newest state of `pool`, all of it?
bool StaysWithOthers(const State& state, const Job& job, const std::vector<Candidate>& pool);

// The newest state is in no store, and without those that must leave nobody has all of it: they go on, however few they
// are, so that it can be saved or handed to those that stay.
bool LeavesUnsaved(const State& state, const Job& job, const std::vector<Candidate>& pool);

// A save that fails is told again so often, for as long as it does.
inline constexpr double kTellSavesSeconds = 3600;
// Before the next try: 1 s after the first that failed, each time twice as long, at most 60 s. REQUIRES: failed > 0.
double PauseAfterSaves(int failed);
// What the first of these trainers that knows says of its newest save; `otherwise` where none knows.
std::string SaveError(const Job& job, const std::vector<std::string>& trainers, const std::string& otherwise);
inline constexpr char kNoAnswer[] = "its store did not answer in time";

// Is the newest that they have durable, or not meant to be? Where they have nothing, there is nothing to save. A node
// may be noticed when the others have stopped for it already, without a checkpoint: then nobody has saved.
bool IsSaved(const Job& job, const std::vector<Candidate>& pool);

// Not before the pause after a try that failed is over do they stop for the next one.
bool PausesBeforeSave(const Turn& turn, Job& job);

// Others are there, or all that there was is durable.
void ForgetSaves(Job& job);

// Tells which steps went with the last of them, unless all are durable. REQUIRES: that one is known to be gone.
void TellLostSteps(Turn& turn, const Job& job, const std::string& why);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_LAST_HOLDERS_H_
