// Carbon intensity as the core takes it, from traces and from what a feed answers. Text in, values out; strict.
#ifndef REKINDLE_COORDINATOR_FLEET_CARBON_DATA_H_
#define REKINDLE_COORDINATOR_FLEET_CARBON_DATA_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "coordinator/core/carbon.h"

namespace rekindle::fleet {

inline constexpr size_t kMaxFeedBytes = 4 << 20;

// Adds the trace of one region. `region`: instead of what the name of `source` says. INVALID_ARGUMENT names source,
// line and what to do: no carbon trace, hours that do not begin on the hour, a region that is there already.
absl::Status AddCarbonTrace(const std::string& text, const std::string& source, const std::string& region,
                            core::CarbonBook* book);

// Takes what a feed answers (docs/fleet.md has the form) at Unix time `now`; what is known of the hours before stays.
// INVALID_ARGUMENT names region and field, and leaves `book` as it is.
absl::Status TakeCarbonFeed(const std::string& text, double now, core::CarbonBook* book);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_CARBON_DATA_H_
