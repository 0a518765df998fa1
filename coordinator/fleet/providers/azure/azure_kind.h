// This file describes pools that get their machines from Azure.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_AZURE_KIND_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_AZURE_KIND_H_

#include "coordinator/fleet/providers/contract/provider_kind.h"

namespace rekindle::fleet {

extern const ProviderKind kAzureKind;

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_AZURE_KIND_H_
