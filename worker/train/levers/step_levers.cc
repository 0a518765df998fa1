#include <vector>

#include "worker/train/levers/schedule.h"
#include "worker/train/levers/step_lever.h"

namespace rekindle::train {

extern const StepLever kEarlyStop, kLossSpike, kNoGradient;

std::span<const StepLever* const> StepLevers() {
  static const auto* levers = [] {
    auto* all = new std::vector<const StepLever*>{
        &kEarlyStop,   //
        &kLossSpike,   //
        &kNoGradient,  //
    };
    for (const ScheduleKind* schedule : Schedules()) {
      if (schedule->lever != nullptr) all->push_back(schedule->lever);
    }
    return all;
  }();
  return *levers;
}

double SettingOf(const std::map<std::string, double>& settings, const Parameter& parameter) {
  const auto found = settings.find(parameter.field);
  return found == settings.end() ? parameter.initial : found->second;
}

}  // namespace rekindle::train
