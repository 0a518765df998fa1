// Azure: one virtual machine scale set (uniform orchestration) a pool, over Azure Resource Manager. Nodes are called as
// their virtual machines.
//
// Needs Microsoft.Compute/virtualMachineScaleSets/read, /write, /delete/action and /virtualMachines/read (in the role
// Virtual Machine Contributor).
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/fleet/providers/bearer_api.h"
#include "coordinator/fleet/providers/provider.h"

namespace rekindle::fleet {

inline constexpr char kAzureEndpoint[] = "https://management.azure.com";

struct AzureScaleSet {
  std::string subscription;
  std::string resource_group;
  std::string name;
};

// `sets`: by pool. INVALID_ARGUMENT: the endpoint.
absl::StatusOr<std::unique_ptr<Provider>> NewAzureProvider(const std::string& endpoint,
                                                           std::map<std::string, AzureScaleSet> sets, FetchToken token);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_H_
