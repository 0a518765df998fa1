// Fills in the decisions that a job's record of an earlier release does not have, because that release showed them only
// in the job's status.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_DECIDED_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_DECIDED_H_

#include "rekindle/v1/store.pb.h"

namespace rekindle::core {

// Fills in the record's `decided`, where it is missing, from what the status and the halt say. `stopped_for` stays
// empty. A record that has `decided` stays as it is.
void FillDecided(v1::JobRecord* record);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_DECIDED_H_
