#include "worker/train/levers/learning_rate.h"

#include <algorithm>

#include "worker/train/levers/schedule.h"

namespace rekindle::train {

double LearningRate(const OptimizerSpec& optimizer, const ScheduleSpec& schedule, int64_t step, int64_t steps,
                    const LeverState& state) {
  const double highest = optimizer.learning_rate;
  const int64_t warmup = schedule.warmup_steps;
  if (step < warmup) return highest * static_cast<double>(step + 1) / static_cast<double>(warmup);
  const ScheduleTime time{step - warmup, std::max<int64_t>(1, steps - warmup)};
  return highest * FindSchedule(schedule.kind)->share(schedule, time, state);
}

}  // namespace rekindle::train
