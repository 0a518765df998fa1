// Makes the time of the core from the clocks of the machine. While the state store cannot be written and while the
// machine sleeps, nodes and trainers cannot be heard. The core's clock stands still then, so that the core does not
// count them as silent. Jobs are charged for that time all the same (core::ClockSet).
#ifndef REKINDLE_COORDINATOR_SERVER_LOOP_CORE_CLOCK_H_
#define REKINDLE_COORDINATOR_SERVER_LOOP_CORE_CLOCK_H_

#include <optional>

#include "common/time/clock.h"
#include "coordinator/core/cluster.h"

namespace rekindle::coordinator {

// Holds the clocks of the machine. They return seconds and must be thread-safe. `boot` goes on while the machine
// sleeps. `steady` stops then, and it never goes back. `wall` is Unix time, which somebody may set at any time.
struct Clocks {
  common::TimeSource steady = common::SteadySeconds;
  common::TimeSource boot = common::BootSeconds;
  common::TimeSource wall = common::WallSeconds;
};

// CoreClock is thread-compatible: the loop's thread owns it. Only Now may be called from any thread.
class CoreClock {
 public:
  explicit CoreClock(Clocks clocks) : clocks_(std::move(clocks)) {}

  // Reads all clocks for the first time. Returns Unix time minus Now().
  double Begin();
  // Reads all clocks anew. Returns the change to tell the core, or nothing where what the core knows of the clocks is
  // still right. It must not be called while the core's clock stands still.
  std::optional<core::ClockSet> Follow();

  // Returns the time of the steady clock.
  double Now() const { return clocks_.steady(); }
  // Returns Unix time, as the last Begin or Follow found it.
  double UnixNow() const { return Now() + unix_offset_; }
  double CoreNow() const { return stands_since_.value_or(Now()) - behind_; }
  // Returns what Now() is when the core's clock shows `core_time`, if that clock does not stand still until then.
  double When(double core_time) const { return core_time + behind_; }

  // Lets the core's clock stand still from now on.
  void StandStill() { stands_since_ = Now(); }
  void GoOn();

 private:
  double Slept() const { return clocks_.boot() - clocks_.steady(); }

  const Clocks clocks_;
  std::optional<double> stands_since_;
  // `behind_` is how many seconds the core's clock is behind Now(), without the time for which it stands still now.
  double behind_ = 0;
  // `told_behind_` is the value of `behind_` that the core knows.
  double told_behind_ = 0;
  // `asleep_` is for how many seconds the machine has slept since it booted, as far as the core knows.
  double asleep_ = 0;
  // `unix_offset_` is Unix time minus Now().
  double unix_offset_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_CORE_CLOCK_H_
