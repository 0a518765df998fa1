// This file describes pools whose machines are had from Google Cloud.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_KIND_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_KIND_H_

#include "coordinator/fleet/providers/contract/provider_kind.h"

namespace rekindle::fleet {

extern const ProviderKind kGcpKind;

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_KIND_H_
