// Time as seconds in a double. Cores never read it: they get `now` passed in.
#ifndef REKINDLE_COMMON_CLOCK_H_
#define REKINDLE_COMMON_CLOCK_H_

namespace rekindle::common {

// CLOCK_MONOTONIC: the same for all processes of one machine, never goes back.
double SteadySeconds();
// CLOCK_BOOTTIME: the same, and goes on while the machine sleeps.
double BootSeconds();
// Unix time. Tests shift it while programs run: by the file that REKINDLE_TEST_CLOCK names, where its first line is
// "a test shifts the wall clock by SECONDS s". Without both it is the machine's.
double WallSeconds();

// For what has to wait: tests pass one whose sleep only moves its hands. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // As SteadySeconds.
  virtual double Now() = 0;
  virtual void Sleep(double seconds) = 0;
};

// The machine's own. Never null, lives for ever.
Clock* RealClock();

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_CLOCK_H_
