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
  // `name_space` is used for pools that do not state a namespace.
  std::string name_space;
  // An empty `ca_file` means that the certificate authorities that the system trusts are used.
  std::string ca_file;
  // `cert_file` and `key_file` are the coordinator's certificate and key for the API server.
  std::string cert_file;
  std::string key_file;
  // `token` is null where the API server needs none.
  FetchToken token;
  // `held` keeps files in memory alive. They have the certificates and keys that the kubeconfig contains, and the paths
  // in this struct lead to them.
  std::vector<std::shared_ptr<common::UniqueFd>> held;
};

// Returns how a process in a pod reaches the API server of its cluster. FAILED_PRECONDITION says that this process does
// not run in a pod. `root` is put before paths, for tests.
absl::StatusOr<KubernetesAccess> InCluster(const Variables& variables, const std::string& root = "");

// Returns how the API server is reached in the current context of a kubeconfig. Relative paths in it start from
// `folder`. INVALID_ARGUMENT says what is missing, or that a credential plugin would be needed, which is not run.
absl::StatusOr<KubernetesAccess> ParseKubeconfig(const std::string& text, const std::string& folder);
absl::StatusOr<KubernetesAccess> ReadKubeconfig(const std::string& path);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_KUBECONFIG_H_
