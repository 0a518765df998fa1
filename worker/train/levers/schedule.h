// Declares the interface of a schedule, the shape of the learning rate after the warm-up. Each schedule is one file
// schedule_*.cc and one line in schedules.cc.
#ifndef REKINDLE_WORKER_TRAIN_LEVERS_SCHEDULE_H_
#define REKINDLE_WORKER_TRAIN_LEVERS_SCHEDULE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "worker/contract/parameter.h"
#include "worker/train/levers/lever_state.h"

namespace rekindle::train {

struct ScheduleSpec;
struct StepLever;

// Gives the place of a step in the schedule. `step` is the number of steps that were applied before it since the end of
// the warm-up, and `steps` is the number of all steps after the warm-up.
struct ScheduleTime {
  int64_t step = 0;
  int64_t steps = 1;
  // Returns the share of `steps` that is done after the step. The share is 1 at the last step and beyond.
  double progress() const { return step + 1 >= steps ? 1 : static_cast<double>(step + 1) / static_cast<double>(steps); }
};

struct ScheduleKind {
  const char* name;
  // `parameters` declares the fields of spec.schedule that this kind of schedule has, except `kind` and `warmup_steps`.
  std::span<const Parameter> parameters;
  // Returns the learning rate of a step as a share of the highest learning rate.
  double (*share)(const ScheduleSpec& schedule, const ScheduleTime& time, const LeverState& state);
  bool needs_evaluations = false;
  // `lever` updates the values of `state` that `share` reads. It is null if the rate depends only on the step.
  const StepLever* lever = nullptr;
};

std::span<const ScheduleKind* const> Schedules();
// Returns the schedule called `name`, or null if there is none.
const ScheduleKind* FindSchedule(std::string_view name);
// Returns the schedule of a job that names none.
const ScheduleKind& DefaultSchedule();

// Returns cos(pi * x) for x in [0, 1], with the same bits on every machine. The result of libm depends on the
// instruction set.
double CosinePi(double x);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEVERS_SCHEDULE_H_
