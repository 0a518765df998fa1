// This file parses carbon intensity for the core, from traces and from what a feed answers. It is strict about its
// input.
#ifndef REKINDLE_COORDINATOR_FLEET_FILE_CARBON_DATA_H_
#define REKINDLE_COORDINATOR_FLEET_FILE_CARBON_DATA_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "coordinator/market/carbon.h"

namespace rekindle::fleet {

inline constexpr size_t kMaxFeedBytes = 4 << 20;

// Adds the carbon trace of one region to `book`. A `region` that is not empty replaces the region in the name of
// `source`. INVALID_ARGUMENT names the source, the line and what to do. It is returned where the text is no carbon
// trace, where hours do not begin on the hour, or where `book` has the region already.
absl::Status AddCarbonTrace(const std::string& text, const std::string& source, const std::string& region,
                            core::CarbonBook* book);

// Adds to `book` what a carbon feed answers at Unix time `now` (docs/fleet.md has the form), and keeps what `book`
// knows of earlier hours. INVALID_ARGUMENT names the region and the field, and leaves `book` as it is.
absl::Status TakeCarbonFeed(const std::string& text, double now, core::CarbonBook* book);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_FILE_CARBON_DATA_H_
