// A straight line from the highest down to final_ratio of it, reached at the last step (torch's LinearLR one step on).
#include "worker/train/levers/schedule.h"
#include "worker/train/spec.h"

namespace rekindle::train {
namespace {

constexpr Parameter kParameters[] = {{.field = "final_ratio", .initial = 0.1, .low = 0, .high = 1}};

double Share(const ScheduleSpec& schedule, const ScheduleTime& time, const LeverState&) {
  return 1 + (schedule.final_ratio - 1) * time.progress();
}

}  // namespace

extern const ScheduleKind kLinearSchedule;
const ScheduleKind kLinearSchedule{.name = "linear", .parameters = kParameters, .share = Share};

}  // namespace rekindle::train
