// Kubernetes: one StatefulSet a pool, scaled through the API server. Nodes are called as the machines their pods are
// on.
//
// Needs get on statefulsets, patch on statefulsets/scale and list on pods of the namespace. A StatefulSet ends its last
// ordinals first: nodes that are to be released go where they are among those; else others go, and the log says so.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "coordinator/fleet/providers/bearer_api.h"
#include "coordinator/fleet/providers/kubeconfig.h"
#include "coordinator/fleet/providers/provider.h"

namespace rekindle::fleet {

struct KubernetesSet {
  std::string name_space;  // Empty: that of the cluster's access.
  std::string name;
};

// `sets`: by pool.
absl::StatusOr<std::unique_ptr<Provider>> NewKubernetesProvider(KubernetesAccess access,
                                                                std::map<std::string, KubernetesSet> sets);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_H_
