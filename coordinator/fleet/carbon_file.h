// Where a fleet file says that carbon intensity comes from.
#ifndef REKINDLE_COORDINATOR_FLEET_CARBON_FILE_H_
#define REKINDLE_COORDINATOR_FLEET_CARBON_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// Fills defaults of `fleet.carbon` and checks it. INVALID_ARGUMENT names the field and what would be right.
absl::Status ResolveCarbon(v1::Fleet* fleet);

// "https://host:port" and "/path?query" of a feed. INVALID_ARGUMENT without the URL in it: it may hold a secret.
struct FeedUrl {
  std::string origin;
  std::string path;
};
absl::StatusOr<FeedUrl> ParseFeedUrl(const std::string& url);

// REGION=FILE, or FILE, whose name says the region.
struct CarbonFile {
  std::string region;  // Empty: not said.
  std::string path;    // Beside the folder given, where it is relative.
};
CarbonFile ParseCarbonFile(const std::string& file, const std::string& beside);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_CARBON_FILE_H_
