// Kubernetes: deletion of this pod, and taints by which the usual handlers mark a node that goes, from the cluster's
// API, as the pod's own service account (it needs `get` on its pod and on nodes). SIGTERM comes to init as everywhere.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_KUBERNETES_H_
#define REKINDLE_WORKER_AGENT_NOTICES_KUBERNETES_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/http.h"
#include "worker/agent/notices/machine.h"
#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

// Answers come from the API server's cache (resourceVersion=0), so many nodes may ask.
inline constexpr double kKubernetesSeconds = 5;
inline constexpr size_t kMaxKubernetesAnswer = 1 << 20;  // A node lists its images.
inline constexpr char kServiceAccount[] = "/var/run/secrets/kubernetes.io/serviceaccount";

// A Pod, or its metadata alone: whether it is being deleted.
absl::StatusOr<std::vector<Notice>> ParsePod(std::string_view text);
// A Node: its taints, first seen at `now`.
absl::StatusOr<std::vector<Notice>> ParseNode(std::string_view text, double now);

struct KubernetesNames {
  std::string pod_space;  // Namespace.
  std::string pod;        // Empty: not asked for.
  std::string node;       // Empty: not asked for.
};
// REKINDLE_KUBERNETES_POD (else HOSTNAME) and REKINDLE_KUBERNETES_NODE, from the downward API. INVALID_ARGUMENT when
// one is no name of Kubernetes.
absl::StatusOr<KubernetesNames> NamesOf(const Machine& machine);

// `token` is read again for each request: it is rotated.
std::unique_ptr<Source> NewKubernetesSource(std::unique_ptr<common::Http> http, KubernetesNames names,
                                            std::function<std::string()> token);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_KUBERNETES_H_
