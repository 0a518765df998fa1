// Hours of the week in which a job may run: spec.goals.off_peak. UTC.
#ifndef REKINDLE_COORDINATOR_CORE_OFF_PEAK_H_
#define REKINDLE_COORDINATOR_CORE_OFF_PEAK_H_

#include <string>

#include "absl/status/status.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::core {

// INVALID_ARGUMENT names the field, and how it is written.
absl::Status CheckOffPeak(const v1::JobSpec::Goals& goals);

// True of a job without windows. REQUIRES, as of the next: checked.
bool InWindow(const v1::JobSpec::Goals& goals, double unix_now);
// Unix time at which the next window begins, or the present one ends; infinity: there is none.
double NextEdge(const v1::JobSpec::Goals& goals, double unix_now);

// "22:00 UTC", of today or tomorrow; with the day where that is further.
std::string ClockTime(double unix_time, double unix_now);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_OFF_PEAK_H_
