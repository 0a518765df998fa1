// Reads time as seconds in a double. Cores never read it, but get `now` as an argument.
#ifndef REKINDLE_COMMON_TIME_CLOCK_H_
#define REKINDLE_COMMON_TIME_CLOCK_H_

namespace rekindle::common {

// Returns CLOCK_MONOTONIC, which is the same for all processes of one machine and never goes back.
double SteadySeconds();
// Returns CLOCK_BOOTTIME, which is like CLOCK_MONOTONIC but continues while the machine sleeps.
double BootSeconds();
// Returns Unix time. Tests shift it while programs run: REKINDLE_TEST_CLOCK names a file whose first line is "a test
// shifts the wall clock by SECONDS s". Without both it is the machine's time.
double WallSeconds();

// A `Clock` is for code that has to wait. Tests pass one whose sleep only advances its time. It is thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Returns the time of SteadySeconds.
  virtual double Now() = 0;
  virtual void Sleep(double seconds) = 0;
};

// Returns the machine's own clock. It is never null and lives for ever.
Clock* RealClock();

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TIME_CLOCK_H_
