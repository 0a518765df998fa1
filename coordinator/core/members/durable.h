// Keeps the newest durable checkpoint of a job's line. No generation may begin below it. A line is the history of a job
// from its start, or from where its user let it go on with less than it had.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_DURABLE_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_DURABLE_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// A job that is resumed from this name starts anew.
inline constexpr char kScratch[] = "scratch";

// Lets the status show at least `step` steps as completed. A checkpoint, or members that have stopped, must prove them.
void RaiseStep(const Turn& turn, Job& job, int step);

// Returns -1 where no checkpoint of this line is durable.
int DurableStep(const Job& job);

// Returns whether the job may go on from that checkpoint. It has to belong to this line or be its beginning, and it
// must not have been given up as damaged.
bool IsUsable(const Job& job, const v1::Checkpointed& checkpoint);

// Returns whether a report tells of live state that may be used because it belongs to this line.
bool HoldsState(const Job& job, const v1::TrainerReport& report);

// Remembers what that trainer knows to be durable.
void TakeDurableCheckpoint(Turn& turn, Job& job, const v1::TrainerReport& report);

// Gives the newest checkpoint up because its bytes are wrong for everybody who reads them. The job counts on `older`
// from now on. `why` names who read what.
void GiveUpDamaged(Turn& turn, Job& job, const v1::Checkpointed& older, const std::string& why);

// Returns OK, or why the job cannot go on from there. INVALID_ARGUMENT says that `from` names no checkpoint.
// FAILED_PRECONDITION says that members still train, or that steps would be given up without the user's confirmation.
absl::Status CheckLine(const Job& job, const std::string& from, bool confirmed);
// Begins a new line at `from`. Whatever is newer in memory or in the store is not used any more. REQUIRES: CheckLine
// returned OK.
void BeginLine(Turn& turn, Job& job, const std::string& from);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_DURABLE_H_
