// Says where the checkpoints of a job are.
#ifndef REKINDLE_COORDINATOR_CORE_KEEPING_KEPT_CHECKPOINTS_H_
#define REKINDLE_COORDINATOR_CORE_KEEPING_KEPT_CHECKPOINTS_H_

#include <string>

#include "rekindle/v1/store.pb.h"

namespace rekindle::core {

// Returns where a job's checkpoints are, as its record says. Returns an empty string where it kept none.
std::string CheckpointsOf(const v1::JobRecord& record);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_KEEPING_KEPT_CHECKPOINTS_H_
