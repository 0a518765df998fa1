#include <array>
#include <numbers>

#include "worker/train/levers/schedule.h"

namespace rekindle::train {

extern const ScheduleKind kConstantSchedule, kCosineSchedule, kCosineRestartsSchedule, kLinearSchedule,
    kPlateauSchedule, kWarmupStableDecaySchedule;

std::span<const ScheduleKind* const> Schedules() {
  static constexpr std::array kSchedules{
      &kConstantSchedule,           //
      &kCosineSchedule,             //
      &kCosineRestartsSchedule,     //
      &kLinearSchedule,             //
      &kPlateauSchedule,            //
      &kWarmupStableDecaySchedule,  //
  };
  return kSchedules;
}

const ScheduleKind* FindSchedule(std::string_view name) {
  for (const ScheduleKind* kind : Schedules()) {
    if (name == kind->name) return kind;
  }
  return nullptr;
}

const ScheduleKind& DefaultSchedule() { return kCosineSchedule; }

// Sums the Taylor series of the cosine on [0, pi / 2]. The error is below 1e-15.
double CosinePi(double x) {
  if (x > 0.5) return -CosinePi(1 - x);
  const double square = (std::numbers::pi * x) * (std::numbers::pi * x);
  double series = 1;
  for (int k = 24; k > 0; k -= 2) series = 1 - square / (k * (k - 1)) * series;
  return series;
}

}  // namespace rekindle::train
