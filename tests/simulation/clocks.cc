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
  clock_moved_ = true;
}

}  // namespace rekindle::core::simulation
