// Lets a job that has failed go on from its newest checkpoint, after its user has mended what was wrong.
#ifndef REKINDLE_COORDINATOR_CORE_STOPPING_REOPENING_H_
#define REKINDLE_COORDINATOR_CORE_STOPPING_REOPENING_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Makes a FAILED job a paused one that has given its nodes back, so that it can be resumed like one. Returns
// FAILED_PRECONDITION, and changes nothing, while a node that is heard of still runs some of the job, and where another
// job has its name. REQUIRES: the job is FAILED.
absl::Status Reopen(Turn& turn, const std::string& uid);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STOPPING_REOPENING_H_
