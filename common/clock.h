// Time as seconds in a double. Cores never read it: they get `now` passed in.
#ifndef REKINDLE_COMMON_CLOCK_H_
#define REKINDLE_COMMON_CLOCK_H_

namespace rekindle::common {

// CLOCK_MONOTONIC: the same for all processes of one machine, never goes back.
double SteadySeconds();
// Unix time.
double WallSeconds();

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_CLOCK_H_
