// This file gets machines from Kubernetes. Each pool is one StatefulSet, scaled through the API server. A node has the
// name of the machine that its pod is on.
//
// The adapter needs get on statefulsets, patch on statefulsets/scale and list on pods of the namespace. A StatefulSet
// ends its pods with the highest ordinals first. So the nodes that an order releases end only if their pods have the
// highest ordinals. Otherwise other nodes end, and the log says so.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_KUBERNETES_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_KUBERNETES_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "coordinator/fleet/providers/contract/provider.h"
#include "coordinator/fleet/providers/http/bearer_api.h"
#include "coordinator/fleet/providers/kubernetes/kubeconfig.h"

namespace rekindle::fleet {

struct KubernetesSet {
  // `name_space` is the namespace of the StatefulSet. Where it is empty, the namespace in KubernetesAccess is used.
  std::string name_space;
  std::string name;
};

// Returns a provider of a cluster's machines. `sets` maps the names of pools to their StatefulSets.
absl::StatusOr<std::unique_ptr<Provider>> NewKubernetesProvider(KubernetesAccess access,
                                                                std::map<std::string, KubernetesSet> sets);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_KUBERNETES_H_
