// The newest durable checkpoint of a job's line: what no generation may begin below. A line is the history of a job
// from its start, or from where its user let it go on with less than it had.
#ifndef REKINDLE_COORDINATOR_CORE_DURABLE_H_
#define REKINDLE_COORDINATOR_CORE_DURABLE_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/core/state.h"

namespace rekindle::core {

inline constexpr char kScratch[] = "scratch";  // Resume from it: the job starts anew.

// The status shows at least so many steps as completed: a checkpoint, or members that have stopped, prove them.
void RaiseStep(Job& job, int step);

// -1: no checkpoint of this line is durable.
int DurableStep(const Job& job);

// Whether the job may go on from that checkpoint: it is of this line, or its beginning, and was not given up as
// damaged.
bool IsUsable(const Job& job, const v1::Checkpointed& checkpoint);

// The live state in a report that may be used: of this line.
bool HoldsState(const Job& job, const v1::TrainerReport& report);

// Remembers what that trainer knows to be durable.
void TakeDurable(Turn& turn, Job& job, const v1::TrainerReport& report);

// Its bytes are wrong, whoever reads them: the job counts on `older` from now on. `why` names who read what.
void GiveUpDamaged(Turn& turn, Job& job, const v1::Checkpointed& older, const std::string& why);

// OK, or why the job cannot go on from there: INVALID_ARGUMENT for what names no checkpoint, FAILED_PRECONDITION where
// members still train, or where steps would be given up without the user having confirmed it.
absl::Status CheckLine(const Job& job, const std::string& from, bool confirmed);
// Whatever is newer in memory or in the store is not used any more. REQUIRES: CheckLine is OK.
void BeginLine(Turn& turn, Job& job, const std::string& from);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_DURABLE_H_
