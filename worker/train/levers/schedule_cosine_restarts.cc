// Follows half cosines from the highest learning rate towards `final_ratio` of it. Each half cosine is `cycle_growth`
// times as long as the one before (Loshchilov and Hutter, "SGDR"). The values are those of torch's
// CosineAnnealingWarmRestarts, where the first step of a cycle has the highest rate.
#include "worker/contract/spec.h"
#include "worker/train/levers/schedule.h"

namespace rekindle::train {
namespace {

constexpr Parameter kParameters[] = {
    {.field = "final_ratio", .initial = 0.1, .low = 0, .high = 1},
    {.field = "cycle_steps", .initial_part = 0.25, .low = 1, .high = 1e8},
    {.field = "cycle_growth", .initial = 1, .low = 1, .high = 100},
};

double Share(const ScheduleSpec& schedule, const ScheduleTime& time, const LeverState&) {
  int64_t begin = 0;
  int64_t length = schedule.cycle_steps;
  if (schedule.cycle_growth <= 1) {
    begin = time.step - time.step % length;
  } else {
    for (; time.step - begin >= length; length *= schedule.cycle_growth) begin += length;
  }
  const double share = 0.5 * (1 + CosinePi(static_cast<double>(time.step - begin) / static_cast<double>(length)));
  return schedule.final_ratio + (1 - schedule.final_ratio) * share;
}

}  // namespace

extern const ScheduleKind kCosineRestartsSchedule;
const ScheduleKind kCosineRestartsSchedule{.name = "cosine_restarts", .parameters = kParameters, .share = Share};

}  // namespace rekindle::train
