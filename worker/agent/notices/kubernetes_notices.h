// Reads from the Kubernetes API whether this pod is being deleted, and the taints by which the usual handlers mark a
// node that leaves. It uses the pod's own service account, which needs `get` on its pod and on nodes. SIGTERM reaches
// init as on any machine.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_KUBERNETES_NOTICES_H_
#define REKINDLE_WORKER_AGENT_NOTICES_KUBERNETES_NOTICES_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/net/http.h"
#include "worker/agent/notices/machine_facts.h"
#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

inline constexpr char kServiceAccount[] = "/var/run/secrets/kubernetes.io/serviceaccount";

// Parses a Pod, or the metadata of one alone, and returns a notice if the pod is being deleted.
absl::StatusOr<std::vector<Notice>> ParsePod(std::string_view text);
// Parses a Node and returns a notice for each known taint. The seconds of a taint count from `now`.
absl::StatusOr<std::vector<Notice>> ParseNode(std::string_view text, double now);

struct KubernetesNames {
  // `pod_space` is the namespace of the pod.
  std::string pod_space;
  // If `pod` is empty, the pod is not asked for.
  std::string pod;
  // If `node` is empty, the node is not asked for.
  std::string node;
};
// Returns the names from REKINDLE_KUBERNETES_POD (or else HOSTNAME) and REKINDLE_KUBERNETES_NODE, which the downward
// API sets. Returns INVALID_ARGUMENT if one of them cannot be a name in Kubernetes.
absl::StatusOr<KubernetesNames> NamesOf(const Machine& machine);

// Makes the source. `token` is called again for each request, because the token is rotated.
std::unique_ptr<Source> NewKubernetesSource(std::unique_ptr<common::Http> http, KubernetesNames names,
                                            std::function<std::string()> token);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_KUBERNETES_NOTICES_H_
