// Reads time as seconds in a double.
//
// Pure functions get `now` as an argument. A class that keeps time itself gets a `TimeSource`, or a `Clock` if it waits
// as well, and reads no other clock. Only the machine's own clocks measure what the machine itself waits for, such as a
// condition variable, a socket or a process: no test can advance that time.
#ifndef REKINDLE_COMMON_TIME_CLOCK_H_
#define REKINDLE_COMMON_TIME_CLOCK_H_

#include <functional>

namespace rekindle::common {

// Returns CLOCK_MONOTONIC, which is the same for all processes of one machine and never goes back.
double SteadySeconds();
// Returns CLOCK_BOOTTIME, which is like CLOCK_MONOTONIC but continues while the machine sleeps.
double BootSeconds();
// Returns Unix time. Tests shift it while programs run: REKINDLE_TEST_CLOCK names a file whose first line is "a test
// shifts the wall clock by SECONDS s". Without the variable and such a file, it is the machine's time.
double WallSeconds();

// Sleeps for `seconds`.
void SleepSeconds(double seconds);

// A `TimeSource` returns the seconds of one clock. It may be called from any thread.
using TimeSource = std::function<double()>;

// A `Clock` tells time and sleeps. Tests pass one whose `sleep` only advances its time. Its functions may be called
// from any thread.
struct Clock {
  TimeSource now = SteadySeconds;
  std::function<void(double seconds)> sleep = SleepSeconds;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TIME_CLOCK_H_
