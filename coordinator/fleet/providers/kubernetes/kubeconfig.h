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
  // `name_space` is used where nothing else is stated.
  std::string name_space;
  // `ca_file` is empty where the authorities that the system trusts are used.
  std::string ca_file;
  // `cert_file` and `key_file` are our own certificate and key.
  std::string cert_file;
  std::string key_file;
  // `token` is null where none is needed.
  FetchToken token;
  // `held` keeps alive the content that came as data and not as files. The paths above lead to it.
  std::vector<std::shared_ptr<common::UniqueFd>> held;
};

// Returns the access of the pod that this process runs in. FAILED_PRECONDITION says that it does not run in a pod.
// `root` is put before paths, for tests.
absl::StatusOr<KubernetesAccess> InCluster(const Variables& variables, const std::string& root = "");

// Returns the access of a kubeconfig's current context. Relative paths in it start from `folder`. INVALID_ARGUMENT says
// what is missing, or that a credential plugin would be needed, which is not run.
absl::StatusOr<KubernetesAccess> ParseKubeconfig(const std::string& text, const std::string& folder);
absl::StatusOr<KubernetesAccess> ReadKubeconfig(const std::string& path);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBERNETES_KUBECONFIG_H_
