// This file describes pools that get their machines from Google Cloud.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_KIND_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_KIND_H_

#include "coordinator/fleet/providers/contract/provider_kind.h"

namespace rekindle::fleet {

extern const ProviderKind kGcpKind;

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_KIND_H_
