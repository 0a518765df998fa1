// The learning rate as a pure function of the step and of what the schedule remembers.
#ifndef REKINDLE_WORKER_TRAIN_SCHEDULE_H_
#define REKINDLE_WORKER_TRAIN_SCHEDULE_H_

#include <cstdint>

#include "worker/train/levers/lever_state.h"
#include "worker/train/spec.h"

namespace rekindle::train {

// Of the step that follows `step` applied ones (so 0 is the first). Linear warm-up: highest * (step + 1) /
// warmup_steps. Then the shape of the schedule's kind (levers/schedule.h). The same bits on every machine.
double LearningRate(const OptimizerSpec& optimizer, const ScheduleSpec& schedule, int64_t step, int64_t steps,
                    const LeverState& state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SCHEDULE_H_
