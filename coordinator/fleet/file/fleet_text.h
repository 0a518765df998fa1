// This file reads and checks the text of a fleet file.
#ifndef REKINDLE_COORDINATOR_FLEET_FILE_FLEET_TEXT_H_
#define REKINDLE_COORDINATOR_FLEET_FILE_FLEET_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// Parses the text of a fleet file and returns the fleet as ResolveFleet leaves it. `source` is what errors call the
// text. INVALID_ARGUMENT names the source, the field and the fix.
absl::StatusOr<v1::Fleet> ParseFleet(const std::string& text, const std::string& source);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_FILE_FLEET_TEXT_H_
