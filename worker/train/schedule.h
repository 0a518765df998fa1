// The learning rate as a pure function of the step.
#ifndef REKINDLE_WORKER_TRAIN_SCHEDULE_H_
#define REKINDLE_WORKER_TRAIN_SCHEDULE_H_

#include <cstdint>

#include "worker/train/spec.h"

namespace rekindle::train {

// Of the step that follows `step` applied ones (so 0 is the first). Linear warm-up: highest * (step + 1) /
// warmup_steps. Then constant, or half a cosine from the highest down to final_ratio of it, reached at the last of
// `steps`. The same bits on every machine: the cosine is computed here, because libm's depends on the instruction set.
double LearningRate(const OptimizerSpec& optimizer, const ScheduleSpec& schedule, int64_t step, int64_t steps);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SCHEDULE_H_
