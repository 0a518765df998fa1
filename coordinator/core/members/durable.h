// Keeps the newest durable checkpoint of a job's line. No generation may begin below it. A line is the history of a job
// from its start, or from the earlier checkpoint from which its user let it go on.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_DURABLE_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_DURABLE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// A user gives this word in place of a checkpoint's name to resume a job from its very start.
inline constexpr char kScratch[] = "scratch";

// Raises the completed steps in the job's status to at least `step`. A checkpoint, or members that have stopped, must
// prove those steps.
void RaiseStep(const Turn& turn, Job& job, int step);

// Returns the step of the job's newest durable checkpoint, or -1 where no checkpoint of the job's line is durable.
int DurableStep(const Job& job);

// Returns the checkpoint whose manifest has this name, which is "<generation>-<step>-<writer>", or nothing where it is
// no such name.
std::optional<v1::Checkpointed> ParseManifestName(const std::string& name);

// Returns whether the job may go on from the checkpoint. The checkpoint has to belong to the job's line or be its
// beginning, and must not have been given up as damaged.
bool IsUsable(const Job& job, const v1::Checkpointed& checkpoint);

// Returns whether the report's trainer holds live state that may be used because it belongs to the job's line.
bool HoldsState(const Job& job, const v1::TrainerReport& report);

// Takes from a trainer's report which checkpoint the trainer knows to be durable.
void TakeDurableCheckpoint(Turn& turn, Job& job, const v1::TrainerReport& report);

// Gives the newest checkpoint up because its bytes are wrong for everybody who reads them. From now on `older` counts
// as the job's newest durable checkpoint. `why` names who read what.
void GiveUpDamaged(Turn& turn, Job& job, const v1::Checkpointed& older, const std::string& why);

// Returns OK, or why the job cannot go on from the checkpoint `from`. INVALID_ARGUMENT says that `from` names no
// checkpoint. FAILED_PRECONDITION says that members still train, or that steps would be given up without the user's
// confirmation.
absl::Status CheckLine(const Job& job, const std::string& from, bool confirmed);
// Begins a new line at `from`. Whatever is newer in memory or in the store is not used any more. REQUIRES: CheckLine
// returned OK.
void BeginLine(Turn& turn, Job& job, const std::string& from);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_DURABLE_H_
