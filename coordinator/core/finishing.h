// The end of a job that keeps checkpoints: it is over when its final one is durable. Until then it is FINISHING: those
// members that have the whole state together stay, and all other nodes are given back. In generations that make no step
// the members save the state again, with growing pauses in between, and hand it on when their nodes must leave.
#ifndef REKINDLE_COORDINATOR_CORE_FINISHING_H_
#define REKINDLE_COORDINATOR_CORE_FINISHING_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/core/formation.h"
#include "coordinator/core/state.h"
#include "coordinator/core/survey.h"

namespace rekindle::core {

// What all living members have come to.
struct FinalState {
  int step = 0;
  std::string digest;
  std::string stop_reason;  // Before the last step: why.
  int members = 0;
};

// Whether nothing of that final state is to be kept, or it is durable.
bool IsFinalDurable(const Job& job, int step);

// They could not save it. True: that has ended the running generation; false: it had ended before.
bool TakeFailedSave(Turn& turn, Job& job, const FinalState& final, const std::vector<MemberView>& views);

// A try ended because its members lost each other: before the next one there is a pause, too.
void PostponeFinal(const Turn& turn, Job& job);

// Between two tries: lets go whoever is not needed, hands the state on where those that have it must leave, and forms
// the generation of the next try when it is time. REQUIRES: IsFinishing(job), !job.active, all of the state in `pool`.
void KeepFinal(Turn& turn, Job& job, std::vector<Candidate> pool, const std::vector<MemberView>& views);

// Nobody that was heard of has all of it. False: one that is silent may still; true: it is lost, and the job has to go
// back.
bool LoseFinal(Turn& turn, Job& job, const std::vector<MemberView>& views);

// Ends a finishing job whose final checkpoint is durable by now; tells of one that still waits, each hour.
void WatchFinal(Turn& turn, Job& job);

// Saves again at once; `store` is where to, from now on, unless it is empty.
void SaveFinalNow(Turn& turn, Job& job, const std::string& store);

// Why a finishing job cannot simply be stopped, and what can be done.
absl::Status RefuseToStop(const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FINISHING_H_
