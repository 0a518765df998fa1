// How a cluster's API server is reached: as a pod's service account, or as a kubeconfig says.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBECONFIG_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBECONFIG_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/process.h"
#include "coordinator/fleet/providers/bearer_api.h"
#include "coordinator/fleet/providers/cloud_api.h"

namespace rekindle::fleet {

struct KubernetesAccess {
  std::string endpoint;    // "https://10.96.0.1:443"
  std::string name_space;  // Where nothing else is said.
  std::string ca_file;     // Empty: whom the system trusts.
  std::string cert_file;   // With key_file: our own.
  std::string key_file;
  FetchToken token;  // Null: none.
  // Keep the content of what came as data, not as files: paths above lead to them.
  std::vector<std::shared_ptr<common::UniqueFd>> held;
};

// Of the pod that this runs in. FAILED_PRECONDITION: it runs in none. `root` stands before paths, for tests.
absl::StatusOr<KubernetesAccess> InCluster(const Variables& variables, const std::string& root = "");

// The current context of a kubeconfig; relative paths in it are relative to `folder`. INVALID_ARGUMENT says what is
// missing, or that a credential plugin would be needed, which is not run.
absl::StatusOr<KubernetesAccess> ParseKubeconfig(const std::string& text, const std::string& folder);
absl::StatusOr<KubernetesAccess> ReadKubeconfig(const std::string& path);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_KUBECONFIG_H_
