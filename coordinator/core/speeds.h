// How fast machines of a kind are for a job: measured where it runs, else as the fleet file says.
//
// Speeds are of one worker. Speed 1 is what spec.estimate.step_seconds holds for.
#ifndef REKINDLE_COORDINATOR_CORE_SPEEDS_H_
#define REKINDLE_COORDINATOR_CORE_SPEEDS_H_

#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/state.h"

namespace rekindle::core {

// Learns from what a member says of its micro-batches. Planned anew when a kind's speed becomes known, or changes
// by a tenth; told, where it is not as expected.
void TakeSpeed(Turn& turn, Job& job, const v1::TrainerReport& report);

// Where workers may be, a pool and what its nodes compute on, one by one. Empty: all are of speed 1.
std::vector<double> SpeedsOf(const State& state, const Job& job,
                             const std::vector<std::pair<std::string, std::string>>& places);

// Once its members have worked together for some steps: how much work a step is, whoever does it.
void TakeStepWork(const State& state, Job& job);

// Of one step on as many workers of speed 1 as the job may have: measured, else stated.
double StepHours(const State& state, const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SPEEDS_H_
