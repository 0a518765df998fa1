// Reads from the Kubernetes API whether this pod is being deleted, and the taints by which the usual handlers mark a
// node that leaves. It uses the pod's own service account, which needs `get` on its pod and on nodes. The SIGTERM that
// a deleted pod gets is not handled here but in init, as on any machine.
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

// Parses the JSON of a pod, or of its metadata alone, and returns a notice if the pod is being deleted.
absl::StatusOr<std::vector<Notice>> ParsePod(std::string_view text);
// Parses the JSON of a Kubernetes node and returns a notice for each known taint. The seconds until the machine is
// taken away count from `now`.
absl::StatusOr<std::vector<Notice>> ParseNode(std::string_view text, double now);

struct KubernetesNames {
  // `pod_space` is the namespace of the pod.
  std::string pod_space;
  // If `pod` is empty, the source does not poll the pod.
  std::string pod;
  // If `node` is empty, the source does not poll the node.
  std::string node;
};
// Returns the names of this pod and node from REKINDLE_KUBERNETES_POD (or else HOSTNAME) and REKINDLE_KUBERNETES_NODE,
// which the downward API sets. Returns INVALID_ARGUMENT if one of them cannot be a name in Kubernetes.
absl::StatusOr<KubernetesNames> NamesOf(const Machine& machine);

// Makes the source of notices from Kubernetes. `token` is called again for each request, because the service account's
// token is rotated.
std::unique_ptr<Source> NewKubernetesSource(std::unique_ptr<common::Http> http, KubernetesNames names,
                                            std::function<std::string()> token);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_KUBERNETES_NOTICES_H_
