// Makes a job's record of which every field is set. This is for tests only.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_TESTING_FILLED_RECORD_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_TESTING_FILLED_RECORD_H_

#include <string>

#include "rekindle/v1/store.pb.h"

namespace rekindle::core {

// Returns a record in which every field, in all messages, has a value of its own. A oneof has only its first field
// set.
v1::JobRecord FilledRecord(const std::string& job_uid);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_TESTING_FILLED_RECORD_H_
