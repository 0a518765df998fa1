// This file decides when and where a job with the objective `kGreenest` runs. It runs in the cleanest hours that its
// deadline leaves, and in the cleanest of the pools that cost about the same. Extra starts are limited to the premium
// that its policy allows.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_GREEN_H_
#define REKINDLE_COORDINATOR_SCHEDULER_GREEN_H_

#include <string>

#include "coordinator/scheduler/offers.h"
#include "coordinator/scheduler/types.h"

namespace rekindle::scheduler {

// Returns whether the work left fits into hours before the deadline that are expected to be cleaner than the present
// hour, and writes the reason to `why`. `slack` is the number of hours that need not be worked. Returns false without a
// deadline or a forecast.
bool WaitForCleanerHour(const JobView& job, const Offers& offers, const Policy& policy, double slack, std::string* why);

// Returns whether a unit should move only to lower its emissions.
bool MoveIsGreener(const JobView& job, const PoolView& from, const PoolView& to, const Policy& policy);

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_GREEN_H_
