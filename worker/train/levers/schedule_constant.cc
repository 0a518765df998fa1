// Keeps the highest learning rate from the warm-up to the end.
#include "worker/train/levers/schedule.h"

namespace rekindle::train {

extern const ScheduleKind kConstantSchedule;
const ScheduleKind kConstantSchedule{
    .name = "constant", .parameters = {}, .share = [](const ScheduleSpec&, const ScheduleTime&, const LeverState&) {
      return 1.0;
    }};

}  // namespace rekindle::train
