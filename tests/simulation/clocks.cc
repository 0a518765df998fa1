// Models wall clocks that are set. The coordinator's Unix time jumps, but other clocks do not.
#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

// A clock is set by at most `kStep` seconds, because schedules last only minutes. What the coordinator has planned for
// a date comes earlier or later by as much.
constexpr double kStep = 60;

}  // namespace

void SimCluster::StepClock() {
  const double by = chance_.Uniform(-kStep, kStep);
  tally_.Count(Fault::kClockStepped);
  Note(absl::StrCat("the coordinator's wall clock is set by ", by, " s"));
  wall_offset_ += by;
}

// Passes changes of the clocks on to the core, as the server does in each of its turns.
void SimCluster::FollowClocks(Effects* effects) {
  const double offset = wall_offset_ + stalled_, stood_still = stalled_ - told_stalled_;
  if (offset == told_offset_ && stood_still == 0) return;
  told_offset_ = offset;
  told_stalled_ = stalled_;
  cluster_->TakeEvent(ClockSet{offset, stood_still}, CoreNow(), effects);
}

}  // namespace rekindle::core::simulation
