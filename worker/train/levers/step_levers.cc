#include <array>

#include "worker/train/levers/step_lever.h"

namespace rekindle::train {

extern const StepLever kEarlyStop, kLossSpike, kNoGradient, kPlateau;

std::span<const StepLever* const> StepLevers() {
  static constexpr std::array kLevers{
      &kEarlyStop,   //
      &kLossSpike,   //
      &kNoGradient,  //
      &kPlateau,     //
  };
  return kLevers;
}

}  // namespace rekindle::train
