// Follows half a cosine from the highest learning rate down to `final_ratio` of it, reached at the last step
// (Loshchilov and Hutter, "SGDR", without restarts). The values are those of torch's CosineAnnealingLR, shifted by one
// step.
#include "worker/contract/spec.h"
#include "worker/train/levers/schedule.h"

namespace rekindle::train {
namespace {

constexpr Parameter kParameters[] = {{.field = "final_ratio", .initial = 0.1, .low = 0, .high = 1}};

double Share(const ScheduleSpec& schedule, const ScheduleTime& time, const LeverState&) {
  const double share = 0.5 * (1 + CosinePi(time.progress()));
  return schedule.final_ratio + (1 - schedule.final_ratio) * share;
}

}  // namespace

extern const ScheduleKind kCosineSchedule;
const ScheduleKind kCosineSchedule{.name = "cosine", .parameters = kParameters, .share = Share};

}  // namespace rekindle::train
