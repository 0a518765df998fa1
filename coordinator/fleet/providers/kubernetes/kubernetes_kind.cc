#include "coordinator/fleet/providers/kubernetes/kubernetes_kind.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/fleet/providers/kubernetes/kubernetes.h"

namespace rekindle::fleet {
namespace {

using Form = MachineField::Form;

constexpr MachineField kFields[] = {{"group", Form::kName, /*needed=*/true},
                                    {"endpoint", Form::kEndpoint},
                                    {"namespace", Form::kName},
                                    {"kubeconfig", Form::kOther}};

std::string Account(const v1::Fleet::Pool& pool) {
  return absl::StrCat(pool.machines().endpoint(), " ", pool.machines().kubeconfig());
}

std::string Group(const v1::Fleet::Pool& pool) {
  return absl::StrJoin({Account(pool), pool.machines().namespace_(), pool.machines().group()}, " ");
}

KubernetesSet SetOf(const v1::Fleet::Pool& pool) {
  return {.name_space = pool.machines().namespace_(), .name = pool.machines().group()};
}

absl::StatusOr<std::unique_ptr<Provider>> Open(const Pools& pools, const ProviderOptions& options) {
  const v1::Fleet::Machines& first = pools[0].machines();
  absl::StatusOr<KubernetesAccess> access = first.kubeconfig().empty()
                                                ? InCluster(ProcessVariables())
                                                : ReadKubeconfig(OpenablePath(first.kubeconfig(), options));
  if (!access.ok()) return access.status();
  if (!first.endpoint().empty()) access->endpoint = first.endpoint();
  return NewKubernetesProvider(*std::move(access), ByPool(pools, SetOf));
}

}  // namespace

constinit const ProviderKind kKubernetesKind{
    .name = "kubernetes", .fields = kFields, .group = Group, .account = Account, .open = Open};

}  // namespace rekindle::fleet
