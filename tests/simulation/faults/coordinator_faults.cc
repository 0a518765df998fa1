#include "tests/simulation/faults/coordinator_faults.h"

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kShortAbsence = 15, kLongAbsence = 60;
// A clock is set by at most `kStep` seconds, because schedules last only minutes. What the coordinator has planned for
// a date comes earlier or later by as much.
constexpr double kStep = 60;

}  // namespace

void CoordinatorFaults::Kill() {
  if (!coordinator_.is_up()) return;
  world_.journal.Count(Fault::kCoordinatorKilled);
  const double away = world_.chance.Uniform(0.05, world_.options.longest_away);
  if (away >= 60) world_.journal.Count(Fault::kCoordinatorLongAway);
  coordinator_.Crash(away);
}

void CoordinatorFaults::KillForLong() {
  if (!coordinator_.is_up()) return;
  world_.journal.Count(Fault::kCoordinatorKilled);
  coordinator_.Crash(world_.chance.Uniform(kShortAbsence, kLongAbsence));
}

void CoordinatorFaults::SpoilDatabase() {
  const double until = world_.now() + world_.chance.Uniform(0.5, world_.chance.Happens(0.2) ? 60 : 10);
  if (world_.chance.Happens(0.5)) {
    world_.journal.Count(Fault::kDatabaseFails);
    world_.journal.Note(absl::StrCat("the coordinator's database cannot be written until ", until));
    coordinator_.database().FailUntil(until);
  } else {
    world_.journal.Count(Fault::kDatabaseSlow);
    world_.journal.Note(absl::StrCat("the coordinator's database is slow until ", until));
    coordinator_.database().BeSlowUntil(until);
  }
}

void CoordinatorFaults::StepClock() {
  const double by = world_.chance.Uniform(-kStep, kStep);
  world_.journal.Count(Fault::kClockStepped);
  world_.journal.Note(absl::StrCat("the coordinator's wall clock is set by ", by, " s"));
  coordinator_.clock().StepBy(by);
}

}  // namespace rekindle::core::simulation
