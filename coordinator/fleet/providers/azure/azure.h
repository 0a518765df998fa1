// This file gets machines from Azure. Each pool is one virtual machine scale set (uniform orchestration), over Azure
// Resource Manager. A node has the name of its virtual machine.
//
// The adapter needs Microsoft.Compute/virtualMachineScaleSets/read, /write, /delete/action and /virtualMachines/read,
// which are in the role Virtual Machine Contributor.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_AZURE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_AZURE_H_

#include <map>
#include <memory>
#include <string>

#include "coordinator/fleet/providers/contract/provider.h"
#include "coordinator/fleet/providers/http/bearer_api.h"

namespace rekindle::fleet {

inline constexpr char kAzureEndpoint[] = "https://management.azure.com";

struct AzureScaleSet {
  std::string subscription;
  std::string resource_group;
  std::string name;
};

// Returns a provider of Azure machines. `sets` maps the names of pools to their scale sets. INVALID_ARGUMENT says that
// the endpoint is wrong.
absl::StatusOr<std::unique_ptr<Provider>> NewAzureProvider(const std::string& endpoint,
                                                           std::map<std::string, AzureScaleSet> sets, FetchToken token);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_AZURE_H_
