// This file gets machines from Google Cloud. Each pool is one zonal managed instance group, over the Compute Engine
// API. A node has the name of its instance.
//
// The adapter needs compute.instanceGroupManagers.get and .update, which are in roles/compute.instanceAdmin.v1.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/fleet/providers/contract/provider.h"
#include "coordinator/fleet/providers/http/bearer_api.h"

namespace rekindle::fleet {

inline constexpr char kGcpEndpoint[] = "https://compute.googleapis.com";

struct GcpGroup {
  std::string project;
  std::string zone;
  std::string name;
};

// Turns an error into Throttled (provider.h) where Google means that it is asked too often. Google says so with status
// 403, too.
absl::Status RefineGcpLimit(const absl::Status& status);

// Returns a provider of Google Cloud's machines. `groups` maps the names of pools to their instance groups.
// INVALID_ARGUMENT says that the endpoint is wrong.
absl::StatusOr<std::unique_ptr<Provider>> NewGcpProvider(const std::string& endpoint,
                                                         std::map<std::string, GcpGroup> groups, FetchToken token);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_H_
