// This file reads the part of a fleet file that says where carbon intensity comes from.
#ifndef REKINDLE_COORDINATOR_FLEET_FILE_CARBON_FILE_H_
#define REKINDLE_COORDINATOR_FLEET_FILE_CARBON_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// Fills in the defaults of `fleet.carbon` and checks it. INVALID_ARGUMENT names the field and says what would be right.
absl::Status ResolveCarbon(v1::Fleet* fleet);

// A FeedUrl is the URL of a feed, split into "https://host:port" and "/path?query". The INVALID_ARGUMENT of
// ParseFeedUrl does not contain the URL, because it may hold a secret.
struct FeedUrl {
  std::string origin;
  std::string path;
};
absl::StatusOr<FeedUrl> ParseFeedUrl(const std::string& url);

// A CarbonFile names a file with the carbon intensity of one region. Users write it as REGION=FILE, or as FILE where
// the name of the file contains the region.
struct CarbonFile {
  // `region` is empty where only FILE is given.
  std::string region;
  // `path` is the path of the file. ParseCarbonFile puts the folder `beside` before a relative path.
  std::string path;
};
CarbonFile ParseCarbonFile(const std::string& file, const std::string& beside);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_FILE_CARBON_FILE_H_
