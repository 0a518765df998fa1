// Ends a job that keeps checkpoints. Such a job is over only when its final checkpoint is durable. Until then it is
// FINISHING: those members that have the whole state together stay, and all other nodes are given back. In generations
// without steps the members try again to save the state, with growing pauses in between, and hand it on when their
// nodes must leave.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_FINISHING_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_FINISHING_H_

#include <string>
#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// A FinalState is the state that all living members have reached when they have finished.
struct FinalState {
  int step = 0;
  std::string digest;
  // `stop_reason` says why the job stopped before the last step. It is empty where all steps are made.
  std::string stop_reason;
  int members = 0;
};

// Returns whether the final state is durable, or does not have to be kept at all.
bool IsFinalDurable(const Job& job, int step);

// Takes note that the members could not save the final state. Returns whether that ends the running generation. Returns
// false where the generation had ended before.
bool TakeFailedSave(Turn& turn, Job& job, const FinalState& final, const std::vector<MemberView>& views);

// Begins a pause before the next try to save the final state, because a try ended when its members lost each other.
void PostponeFinal(const Turn& turn, Job& job);

// Keeps the final state between two tries to save it. Releases trainers that are not needed. Hands the state on where
// the trainers that have it must leave. Forms the next generation when the next try is due. REQUIRES: the job is
// finishing and not active, and `pool` has all of the state.
void KeepFinal(Turn& turn, Job& job, std::vector<Candidate> pool, const std::vector<MemberView>& views);

// Decides what happens when the trainers that were heard of do not have all of the final state together. Returns false
// while a silent member may still have the rest. Returns true when the state is lost, and the job has to go back to an
// earlier one.
bool LoseFinal(Turn& turn, Job& job, const std::vector<MemberView>& views);

// Ends a finishing job whose final checkpoint is durable by now. Emits an event each hour while the job still waits for
// that checkpoint.
void WatchFinal(Turn& turn, Job& job);

// Saves the final state again at once. `store` is where it goes from now on, unless it is empty.
void SaveFinalNow(Turn& turn, Job& job, const std::string& store);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_FINISHING_H_
