// Ends a job that keeps checkpoints, which is over when its final one is durable. Until then it is FINISHING: those
// members that have the whole state together stay, and all other nodes are given back. In generations that make no step
// the members save the state again, with growing pauses in between, and hand it on when their nodes must leave.
#ifndef REKINDLE_COORDINATOR_CORE_GENERATION_FINISHING_H_
#define REKINDLE_COORDINATOR_CORE_GENERATION_FINISHING_H_

#include <string>
#include <vector>

#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/members/survey.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// A FinalState is what all living members have come to when they have finished.
struct FinalState {
  int step = 0;
  std::string digest;
  // `stop_reason` says why the job stopped before the last step. It is empty where it did not.
  std::string stop_reason;
  int members = 0;
};

// Returns whether the final state is durable, or does not have to be kept at all.
bool IsFinalDurable(const Job& job, int step);

// Takes note that the members could not save the final state. Returns whether that has ended the running generation; it
// may have ended before.
bool TakeFailedSave(Turn& turn, Job& job, const FinalState& final, const std::vector<MemberView>& views);

// Begins a pause before the next try, because one ended when its members lost each other.
void PostponeFinal(const Turn& turn, Job& job);

// Keeps the final state between two tries. Lets go whoever is not needed, hands the state on where those that have it
// must leave, and forms the generation of the next try when it is time. REQUIRES: the job is finishing and not active,
// and `pool` has all of the state.
void KeepFinal(Turn& turn, Job& job, std::vector<Candidate> pool, const std::vector<MemberView>& views);

// Decides what happens when nobody that was heard of has all of the final state. Returns false while a silent member
// may still have it. Returns true when it is lost, and the job has to go back.
bool LoseFinal(Turn& turn, Job& job, const std::vector<MemberView>& views);

// Ends a finishing job whose final checkpoint is durable by now. Emits each hour that a job still waits for that.
void WatchFinal(Turn& turn, Job& job);

// Saves the final state again at once. `store` is where it goes from now on, unless it is empty.
void SaveFinalNow(Turn& turn, Job& job, const std::string& store);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GENERATION_FINISHING_H_
