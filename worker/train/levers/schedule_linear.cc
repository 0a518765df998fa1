// Follows a straight line from the highest learning rate down to `final_ratio` of it, reached at the last step. The
// values are those of torch's LinearLR, shifted by one step.
#include "worker/contract/spec.h"
#include "worker/train/levers/schedule.h"

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
