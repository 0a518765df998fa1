// Wall clocks that are set: the coordinator's Unix time jumps, what is counted by other clocks does not.
#include "absl/strings/str_cat.h"
#include "tests/simulation/world.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kStep = 60;  // What is due by a date moves by as much, and schedules are of minutes.

}  // namespace

void World::StepClock() {
  const double by = chance_.Uniform(-kStep, kStep);
  tally_.Count(Fault::kClockStepped);
  Note(absl::StrCat("the coordinator's wall clock is set by ", by, " s"));
  wall_offset_ += by;
}

// As the server does in each of its turns.
void World::FollowClocks(Effects* effects) {
  const double offset = wall_offset_ + stalled_, stood_still = stalled_ - told_stalled_;
  if (offset == told_offset_ && stood_still == 0) return;
  told_offset_ = offset;
  told_stalled_ = stalled_;
  cluster_->Take(ClockSet{offset, stood_still}, CoreNow(), effects);
}

}  // namespace rekindle::core::simulation
