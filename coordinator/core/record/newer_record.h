// Takes over a newer record of a job from its trainers. A record that was brought back from a copy may be older than
// the job's file (job_json.h) that a trainer was told last. Spent money, the budget, counters and curves may be newer
// in that file.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_NEWER_RECORD_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_NEWER_RECORD_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Replaces the job's record with the newest file that the trainers ahead of the record have, where that file belongs to
// the job and is newer. What only this cluster knows of the job stays: its secret, and the members that it had.
void TakeNewerRecord(const Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_NEWER_RECORD_H_
