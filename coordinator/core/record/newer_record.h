// Takes over a newer record of a job from its trainers. A trainer keeps the last file of its job (job_json.h) that the
// coordinator sent to it. A record that was brought back from a copy may be older than such a file. Spent money, the
// budget, counters and curves may be newer in the file.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_NEWER_RECORD_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_NEWER_RECORD_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Replaces the job's record with the newest file of the job that a trainer of a generation above the record's has
// reported, where that file belongs to the job and is newer than the record. What only this cluster knows of the job
// stays: its secret, and the members that it had.
void TakeNewerRecord(const Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_NEWER_RECORD_H_
