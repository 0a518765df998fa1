// Checks what a job's status says against the rest of its record. Each sentence of a status may be said at some times
// and not at others: a job that waits does not run, a paused job computes nothing, and a sum of money is the present
// one. This is for tests only.
#ifndef REKINDLE_COORDINATOR_CORE_TESTING_STATUS_CHECK_H_
#define REKINDLE_COORDINATOR_CORE_TESTING_STATUS_CHECK_H_

#include <string>

#include "rekindle/v1/store.pb.h"

namespace rekindle::core::simulation {

// Returns a statement in the job's status that is not true, after the job's name. Returns an empty string where there
// is none.
std::string FindUntruth(const v1::JobRecord& record);

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_COORDINATOR_CORE_TESTING_STATUS_CHECK_H_
