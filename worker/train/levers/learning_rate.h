// Computes the learning rate as a pure function of the step and of what the schedule remembers.
#ifndef REKINDLE_WORKER_TRAIN_LEVERS_LEARNING_RATE_H_
#define REKINDLE_WORKER_TRAIN_LEVERS_LEARNING_RATE_H_

#include <cstdint>

#include "worker/contract/spec.h"
#include "worker/train/levers/lever_state.h"

namespace rekindle::train {

// Returns the learning rate of the step that follows `step` applied ones, so 0 stands for the first step. The warm-up
// is linear: highest * (step + 1) / warmup_steps. After it the rate has the shape of the schedule's kind
// (levers/schedule.h). The result has the same bits on every machine.
double LearningRate(const OptimizerSpec& optimizer, const ScheduleSpec& schedule, int64_t step, int64_t steps,
                    const LeverState& state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEVERS_LEARNING_RATE_H_
