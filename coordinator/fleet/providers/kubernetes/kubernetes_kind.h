// This file describes pools that get their machines from Kubernetes.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_KUBERNETES_KIND_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_KUBERNETES_KIND_H_

#include "coordinator/fleet/providers/contract/provider_kind.h"

namespace rekindle::fleet {

extern const ProviderKind kKubernetesKind;

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_KUBERNETES_KIND_H_
