// Checks what a job's status says against the rest of its record. Each sentence may be said at some times and not at
// others: a job that waits does not run, one that is paused computes nothing, and a sum of money is the present one.
// This is for tests only.
#ifndef REKINDLE_COORDINATOR_CORE_TESTING_STATUS_CHECK_H_
#define REKINDLE_COORDINATOR_CORE_TESTING_STATUS_CHECK_H_

#include <string>

#include "rekindle/v1/store.pb.h"

namespace rekindle::core::simulation {

// Returns what the status says that is not true, with the job's name, or an empty string.
std::string FindUntruth(const v1::JobRecord& record);

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_COORDINATOR_CORE_TESTING_STATUS_CHECK_H_
