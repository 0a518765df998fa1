// When and where a job that is to be green runs: in the cleanest hours its deadline leaves, in the cleanest of pools
// that cost about the same. Extra starts are limited to the premium its policy allows.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_GREEN_H_
#define REKINDLE_COORDINATOR_SCHEDULER_GREEN_H_

#include <string>

#include "coordinator/scheduler/offers.h"
#include "coordinator/scheduler/types.h"

namespace rekindle::scheduler {

// Whether the work left fits into hours before the deadline that are expected to be cleaner than this one. `slack`:
// hours that need not be worked. `why` gets the reason. False without a deadline or a forecast.
bool WaitForCleanerHour(const JobView& job, const Offers& offers, const Policy& policy, double slack, std::string* why);

// Whether a unit should move for the climate alone.
bool MoveIsGreener(const JobView& job, const PoolView& from, const PoolView& to, const Policy& policy);

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_GREEN_H_
