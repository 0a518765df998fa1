#include "worker/train/schedule.h"

#include <algorithm>
#include <numbers>

namespace rekindle::train {
namespace {

// cos(pi * x) for x in [0, 1] by its Taylor series on [0, pi / 2]; the error is below 1e-15.
double CosinePi(double x) {
  if (x > 0.5) return -CosinePi(1 - x);
  const double square = (std::numbers::pi * x) * (std::numbers::pi * x);
  double series = 1;
  for (int k = 24; k > 0; k -= 2) series = 1 - square / (k * (k - 1)) * series;
  return series;
}

}  // namespace

double LearningRate(const OptimizerSpec& optimizer, const ScheduleSpec& schedule, int64_t step, int64_t steps) {
  const double highest = optimizer.learning_rate;
  const int64_t warmup = schedule.warmup_steps;
  if (step < warmup) return highest * static_cast<double>(step + 1) / static_cast<double>(warmup);
  if (schedule.kind == ScheduleSpec::Kind::kConstant) return highest;
  const double left = static_cast<double>(std::max<int64_t>(1, steps - warmup));
  const double progress = std::min(1.0, static_cast<double>(step - warmup + 1) / left);
  const double share = 0.5 * (1 + CosinePi(progress));
  return highest * (schedule.final_ratio + (1 - schedule.final_ratio) * share);
}

}  // namespace rekindle::train
