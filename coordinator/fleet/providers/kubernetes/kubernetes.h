// This file gets machines from Kubernetes. Each pool is one StatefulSet, scaled through the API server. A node has the
// name of the machine that its pod is on.
//
// It needs get on statefulsets, patch on statefulsets/scale and list on pods of the namespace. A StatefulSet ends its
// last ordinals first. Nodes to be released go where they are among those. Otherwise other nodes go, and the log says
// so.
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
  // `name_space` is empty where that of the cluster's access is used.
  std::string name_space;
  std::string name;
};

// `sets` maps the pools to their StatefulSets.
absl::StatusOr<std::unique_ptr<Provider>> NewKubernetesProvider(KubernetesAccess access,
                                                                std::map<std::string, KubernetesSet> sets);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_KUBERNETES_H_
