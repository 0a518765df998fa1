// Google Cloud: one zonal managed instance group a pool, over the Compute Engine API. Nodes are called as their
// instances.
//
// Needs compute.instanceGroupManagers.get and .update (in roles/compute.instanceAdmin.v1).
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/fleet/providers/bearer_api.h"
#include "coordinator/fleet/providers/provider.h"

namespace rekindle::fleet {

inline constexpr char kGcpEndpoint[] = "https://compute.googleapis.com";

struct GcpGroup {
  std::string project;
  std::string zone;
  std::string name;
};

// Google says with 403, too, that it is asked too often: throttled then.
absl::Status RefineGcpLimit(const absl::Status& status);

// `groups`: by pool. INVALID_ARGUMENT: the endpoint.
absl::StatusOr<std::unique_ptr<Provider>> NewGcpProvider(const std::string& endpoint,
                                                         std::map<std::string, GcpGroup> groups, FetchToken token);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_H_
