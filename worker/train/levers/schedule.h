// A shape of the learning rate after the warm-up: one file schedule_*.cc, one line in schedules.cc.
#ifndef REKINDLE_WORKER_TRAIN_LEVERS_SCHEDULE_H_
#define REKINDLE_WORKER_TRAIN_LEVERS_SCHEDULE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "worker/train/levers/lever_state.h"
#include "worker/train/levers/parameter.h"

namespace rekindle::train {

struct ScheduleSpec;

// Where a step lies: the one that follows `step` applied ones since the warm-up's end, of `steps` there.
struct ScheduleTime {
  int64_t step = 0;
  int64_t steps = 1;
  // The share of `steps` that is done with this one: 1 at the last and beyond.
  double progress() const { return step + 1 >= steps ? 1 : static_cast<double>(step + 1) / static_cast<double>(steps); }
};

struct ScheduleKind {
  const char* name;
  std::span<const Parameter> parameters;  // Of spec.schedule, beside kind and warmup_steps.
  // The learning rate as a share of the highest.
  double (*share)(const ScheduleSpec& schedule, const ScheduleTime& time, const LeverState& state);
  bool needs_evaluations = false;
};

std::span<const ScheduleKind* const> Schedules();
const ScheduleKind* FindSchedule(std::string_view name);  // Null: there is none.

// cos(pi * x) for x in [0, 1], the same bits on every machine: libm's depends on the instruction set.
double CosinePi(double x);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEVERS_SCHEDULE_H_
