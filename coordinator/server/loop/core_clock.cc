#include "coordinator/server/loop/core_clock.h"

#include <cmath>

namespace rekindle::coordinator {
namespace {

// A clock counts as moved when it differs from the expected time by at least `kClockMoved` seconds. Smaller differences
// arise because two clocks are not read at the same moment, and because the system corrects its clocks all the time.
constexpr double kClockMoved = 0.1;

}  // namespace

double CoreClock::Begin() {
  asleep_ = Slept();
  return unix_offset_ = clocks_.wall() - Now();
}

std::optional<core::ClockSet> CoreClock::Follow() {
  const double slept = Slept() - asleep_;
  const double offset = clocks_.wall() - Now();
  const bool was_asleep = slept > kClockMoved;
  if (!was_asleep && behind_ == told_behind_ && std::abs(offset - unix_offset_) < kClockMoved) return std::nullopt;
  const double stood_still = (was_asleep ? slept : 0) + behind_ - told_behind_;
  if (was_asleep) asleep_ += slept;
  told_behind_ = behind_;
  unix_offset_ = offset;
  return core::ClockSet{unix_offset_ + behind_, stood_still};
}

void CoreClock::GoOn() {
  if (stands_since_) behind_ += Now() - *stands_since_;
  stands_since_.reset();
}

}  // namespace rekindle::coordinator
