// This file resizes groups of machines that can end machines by name and be set to a size, which is what several clouds
// have.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_SCALE_GROUP_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_SCALE_GROUP_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/fleet/providers/contract/provider.h"

namespace rekindle::fleet {

// Makes `nodes` the size of the group that `listing` describes, as Provider::SetDesired does. While the group is too
// large, machines of `release` are ended by name, all in one call of `end`, which makes the group smaller by as many.
// `resize` is called where that alone does not give the wanted size. Returns the first error. REQUIRES: the listing has
// `desired`.
absl::Status EndNamedThenResize(const Listing& listing, int nodes, const std::vector<std::string>& release,
                                const std::function<absl::Status(const std::vector<Machine>&)>& end,
                                const std::function<absl::Status()>& resize);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_SCALE_GROUP_H_
