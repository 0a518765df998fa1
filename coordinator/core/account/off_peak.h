// Handles the hours of the week in which a job may run (`spec.goals.off_peak`). All hours are UTC.
#ifndef REKINDLE_COORDINATOR_CORE_ACCOUNT_OFF_PEAK_H_
#define REKINDLE_COORDINATOR_CORE_ACCOUNT_OFF_PEAK_H_

#include <string>

#include "absl/status/status.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::core {

// Returns INVALID_ARGUMENT where an off-peak window is wrong. The message names the field and says how it is written.
absl::Status CheckOffPeak(const v1::JobSpec::Goals& goals);

// Returns whether a job with these goals may run now. The result is true where the goals have no off-peak windows.
// REQUIRES: `CheckOffPeak` has accepted `goals`.
bool InWindow(const v1::JobSpec::Goals& goals, double unix_now);
// Returns the Unix time at which the next off-peak window begins or the present one ends. It is infinity where there is
// no window. REQUIRES: `CheckOffPeak` has accepted `goals`.
double NextEdge(const v1::JobSpec::Goals& goals, double unix_now);

// Returns a clock time such as "22:00 UTC". The day of the week stands before it where the time is a day or more ahead.
std::string ClockTime(double unix_time, double unix_now);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ACCOUNT_OFF_PEAK_H_
