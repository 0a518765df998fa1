// Models the coordinator's clocks. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_COORDINATOR_SIM_CLOCK_H_
#define REKINDLE_TESTS_SIMULATION_COORDINATOR_SIM_CLOCK_H_

#include <optional>

#include "coordinator/core/state/events.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A Clock has the coordinator's Unix time, which jumps when the wall clock is set, and the core's time, which stands
// still while the database cannot be written. It knows how much of both the core has been told.
class Clock {
 public:
  explicit Clock(const World& world) : world_(world) {}

  double CoreNow() const { return world_.now() - stalled_; }
  double UnixNow() const { return world_.now() + wall_offset_; }
  // Returns the difference between the Unix time and the virtual time.
  double wall_offset() const { return wall_offset_; }
  // Returns by how many seconds less time has passed for the core than for the coordinator's process.
  double stalled() const { return stalled_; }

  // Sets the wall clock.
  void StepBy(double seconds) { wall_offset_ += seconds; }
  void StandStill(double seconds) { stalled_ += seconds; }
  // Starts the core's time anew with a new process of the coordinator.
  void Restart();
  // Returns what the core has to be told of the clocks now, if there is anything.
  std::optional<ClockSet> News();
  // Notes that the records were saved by a core that knew what it has been told up to now.
  void NoteSaved() { saved_offset_ = told_offset_ - told_stalled_; }

  // Returns the offset of the Unix time that the core knows.
  double told_offset() const { return told_offset_; }
  // Returns whether time has stood still and the core does not know it.
  bool OwesStandstill() const { return stalled_ != told_stalled_; }
  // Returns by how much the wall clock differs from what the newest records say.
  double SetWhileAway() const;

 private:
  const World& world_;
  double stalled_ = 0;
  double wall_offset_ = 1e6;  // The Unix time stays after 1970 however the clock is set.
  double told_offset_ = wall_offset_;
  double told_stalled_ = 0;
  double saved_offset_ = wall_offset_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_COORDINATOR_SIM_CLOCK_H_
