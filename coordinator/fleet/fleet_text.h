// The text of a fleet file, read and checked.
#ifndef REKINDLE_COORDINATOR_FLEET_FLEET_TEXT_H_
#define REKINDLE_COORDINATOR_FLEET_FLEET_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

// As ResolveFleet leaves it. `source` is what errors call the text. INVALID_ARGUMENT names source, field and fix.
absl::StatusOr<v1::Fleet> ParseFleet(const std::string& text, const std::string& source);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_FLEET_TEXT_H_
