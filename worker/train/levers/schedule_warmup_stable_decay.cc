// Keeps the highest learning rate until `decay_steps` before the end. Then the rate follows a straight line down to
// `final_ratio` of the highest, reached at the last step (Hu et al., "MiniCPM").
#include <algorithm>

#include "worker/contract/spec.h"
#include "worker/train/levers/schedule.h"

namespace rekindle::train {
namespace {

constexpr Parameter kParameters[] = {
    {.field = "final_ratio", .initial = 0.1, .low = 0, .high = 1},
    {.field = "decay_steps", .initial_part = 0.2, .low = 1, .high = 1e8},
};

double Share(const ScheduleSpec& schedule, const ScheduleTime& time, const LeverState&) {
  const int64_t decay = std::min<int64_t>(schedule.decay_steps, time.steps);
  const int64_t stable = time.steps - decay;
  if (time.step < stable) return 1;
  return 1 + (schedule.final_ratio - 1) * ScheduleTime{time.step - stable, decay}.progress();
}

}  // namespace

extern const ScheduleKind kWarmupStableDecaySchedule;
const ScheduleKind kWarmupStableDecaySchedule{.name = "warmup_stable_decay", .parameters = kParameters, .share = Share};

}  // namespace rekindle::train
