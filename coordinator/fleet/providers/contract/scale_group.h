// This file resizes a group of machines in a cloud where single machines of a group can be ended by name, and where the
// group can be set to a size.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_SCALE_GROUP_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_SCALE_GROUP_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/fleet/providers/contract/provider.h"

namespace rekindle::fleet {

// Makes `nodes` the size of the group that `listing` describes, as Provider::SetDesired does. While the group is too
// large, machines of `release` are ended by name, all in one call of `end`, which also lowers the size by their number.
// Where the size is still not the wanted one, `resize` is called. Returns the first error. REQUIRES: the listing has
// `desired`.
absl::Status EndNamedThenResize(const Listing& listing, int nodes, const std::vector<std::string>& release,
                                const std::function<absl::Status(const std::vector<Machine>&)>& end,
                                const std::function<absl::Status()>& resize);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_SCALE_GROUP_H_
