// This file finds out how a cluster's API server is reached, either as a pod's service account or as a kubeconfig says.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_KUBECONFIG_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_KUBECONFIG_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/process/process.h"
#include "coordinator/fleet/providers/http/bearer_api.h"
#include "coordinator/fleet/providers/http/cloud_api.h"

namespace rekindle::fleet {

struct KubernetesAccess {
  // `endpoint` is a URL such as "https://10.96.0.1:443".
  std::string endpoint;
  // `name_space` is the Kubernetes namespace of the pools that do not state one.
  std::string name_space;
  // `ca_file` is the path of a file with the trusted certificate authorities. Where the path is empty, those that the
  // system trusts are used.
  std::string ca_file;
  // `cert_file` and `key_file` are the coordinator's certificate and key for the API server.
  std::string cert_file;
  std::string key_file;
  // `token` fetches the token that the API server wants. It is null where the API server needs none.
  FetchToken token;
  // `held` keeps files in memory alive. They have the certificates and keys that the kubeconfig contains, and the paths
  // in this struct lead to them.
  std::vector<std::shared_ptr<common::UniqueFd>> held;
};

// Returns how a process in a pod reaches the API server of its cluster. FAILED_PRECONDITION says that this process does
// not run in a pod. Tests pass a `root`, which is put before the paths of the files that a pod has of its service
// account.
absl::StatusOr<KubernetesAccess> InCluster(const Variables& variables, const std::string& root = "");

// Returns how the API server is reached in the current context of a kubeconfig. Relative paths in it start from
// `folder`. INVALID_ARGUMENT says what is missing, or that the kubeconfig asks for a credential plugin, which Rekindle
// does not run.
absl::StatusOr<KubernetesAccess> ParseKubeconfig(const std::string& text, const std::string& folder);
absl::StatusOr<KubernetesAccess> ReadKubeconfig(const std::string& path);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_KUBECONFIG_H_
