#include "coordinator/fleet/providers/registry/provider_kinds.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/spec/field_check.h"
#include "coordinator/fleet/providers/aws/aws_kind.h"
#include "coordinator/fleet/providers/azure/azure_kind.h"
#include "coordinator/fleet/providers/exec/exec_kind.h"
#include "coordinator/fleet/providers/gcp/gcp_kind.h"
#include "coordinator/fleet/providers/kubernetes/kubernetes_kind.h"
#include "coordinator/fleet/providers/local/local_kind.h"

namespace rekindle::fleet {
namespace {

constexpr const ProviderKind* kKinds[] = {&kLocalKind, &kKubernetesKind, &kAwsKind, &kGcpKind, &kAzureKind, &kExecKind};

// Returns the names of the providers that can be asked for prices, in a text such as "aws, azure and gcp".
std::string NamesOfPriced() {
  std::vector<std::string> names;
  for (const ProviderKind* kind : kKinds) {
    if (kind->prices != nullptr) names.push_back(kind->name);
  }
  std::sort(names.begin(), names.end());
  const std::string last = names.back();
  names.pop_back();
  return absl::StrCat(absl::StrJoin(names, ", "), " and ", last);
}

}  // namespace

std::span<const ProviderKind* const> ProviderKinds() { return kKinds; }

absl::StatusOr<const ProviderKind*> FindProviderKind(const std::string& field, const std::string& name) {
  std::vector<std::string> known;
  for (const ProviderKind* kind : ProviderKinds()) {
    if (kind->name == name) return kind;
    known.push_back(kind->name);
  }
  return common::CheckOneOf(field, name, known);
}

absl::StatusOr<const PriceKind*> FindPriceKind(const std::string& field, const ProviderKind& kind) {
  if (kind.prices != nullptr) return kind.prices;
  return common::WrongField(
      field, absl::StrCat("provider ", kind.name, " is not asked for prices (", NamesOfPriced(), " are): remove it"));
}

bool IsLocal(const v1::Fleet::Pool& pool) {
  const auto kind = FindProviderKind("provider", pool.provider());
  return kind.ok() && (*kind)->is_local;
}

}  // namespace rekindle::fleet
