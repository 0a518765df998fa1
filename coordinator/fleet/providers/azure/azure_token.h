// This file fetches Azure access tokens. It uses a client secret in the environment (AZURE_TENANT_ID, AZURE_CLIENT_ID,
// AZURE_CLIENT_SECRET), or else the machine's managed identity (AZURE_CLIENT_ID selects one of several).
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_AZURE_TOKEN_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_AZURE_TOKEN_H_

#include "coordinator/fleet/providers/http/bearer_api.h"

namespace rekindle::fleet {

// Returns a FetchToken for Azure. The variables AZURE_AUTHORITY_HOST and AZURE_POD_IDENTITY_AUTHORITY_HOST replace the
// documented addresses, as in Azure's own libraries.
FetchToken AzureToken(Variables variables);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AZURE_AZURE_TOKEN_H_
