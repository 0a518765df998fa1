// Test-only: what a job's status says, held against the rest of its record. Each sentence may be said at some times and
// not at others: one that waits does not run, one that is paused computes nothing, and a sum is that of now.
#ifndef REKINDLE_COORDINATOR_CORE_SIMULATION_STATUS_CHECK_H_
#define REKINDLE_COORDINATOR_CORE_SIMULATION_STATUS_CHECK_H_

#include <string>

#include "rekindle/v1/store.pb.h"

namespace rekindle::core::simulation {

// What is said and is not so, with the job's name; empty: nothing.
std::string FindUntruth(const v1::JobRecord& record);

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_COORDINATOR_CORE_SIMULATION_STATUS_CHECK_H_
