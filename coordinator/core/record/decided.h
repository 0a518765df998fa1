// Fills in what a job's record says of decisions, where an earlier release left them to what the status shows.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_DECIDED_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_DECIDED_H_

#include "rekindle/v1/store.pb.h"

namespace rekindle::core {

// Sets `decided` where the record does not have it, from what the status and the halt say. It leaves `stopped_for`
// empty. A record that has `decided` stays as it is.
void FillDecided(v1::JobRecord* record);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_DECIDED_H_
