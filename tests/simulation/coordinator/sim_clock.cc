#include "tests/simulation/coordinator/sim_clock.h"

#include <cmath>

namespace rekindle::core::simulation {

void Clock::Restart() {
  stalled_ = told_stalled_ = 0;
  told_offset_ = wall_offset_;
}

std::optional<ClockSet> Clock::News() {
  const double offset = wall_offset_ + stalled_, stood_still = stalled_ - told_stalled_;
  if (offset == told_offset_ && stood_still == 0) return std::nullopt;
  told_offset_ = offset;
  told_stalled_ = stalled_;
  return ClockSet{offset, stood_still};
}

double Clock::SetWhileAway() const { return std::abs(wall_offset_ - saved_offset_); }

}  // namespace rekindle::core::simulation
