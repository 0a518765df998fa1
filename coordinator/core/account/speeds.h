// Finds how fast machines of a kind are for a job. The speed is measured where the job runs on such machines. Otherwise
// it is what the fleet file says.
//
// Speeds are those of one worker. `spec.estimate.step_seconds` holds for speed 1.
#ifndef REKINDLE_COORDINATOR_CORE_ACCOUNT_SPEEDS_H_
#define REKINDLE_COORDINATOR_CORE_ACCOUNT_SPEEDS_H_

#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Learns the speed of a member's kind of machine from the time that the member reports for its micro-batches. Planning
// is due when the speed of a kind becomes known or changes by a tenth. An event tells when a speed is not as expected.
void TakeSpeed(Turn& turn, Job& job, const v1::TrainerReport& report);

// Returns the speed of a worker in each of `places`, which are pairs of a pool and the device of its nodes. The result
// is empty where all of them have speed 1.
std::vector<double> SpeedsOf(const State& state, const Job& job,
                             const std::vector<std::pair<std::string, std::string>>& places);

// Learns how much work a step is, which does not depend on the machines, once the members have made some steps
// together.
void TakeStepWork(const State& state, Job& job);

// Returns how many hours a step takes on as many workers of speed 1 as the job may have. The time is measured where
// possible. Otherwise it is what the spec states.
double StepHours(const State& state, const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ACCOUNT_SPEEDS_H_
