#include "coordinator/cluster_record.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/log.h"

namespace rekindle::coordinator {
namespace {

constexpr char kKey[] = "cluster/identity";

}  // namespace

absl::StatusOr<common::ClusterIdentity> ReadOrMakeCluster(StateStore* store) {
  const absl::StatusOr<std::optional<Entry>> found = store->Get(kKey);
  if (!found.ok()) return found.status();
  if (*found) {
    const auto identity = common::ParseClusterIdentity((*found)->value);
    if (identity.ok()) return identity;
    return absl::DataLossError(absl::StrCat("the state store: ", std::string(identity.status().message())));
  }
  const common::ClusterIdentity made = common::NewCluster();
  const absl::StatusOr<int64_t> written = store->Put(kKey, common::Describe(made), /*if_revision=*/0);
  if (!written.ok()) return written.status();
  log::Info("a new cluster begins", {{"cluster", common::Describe(made)}});
  return made;
}

}  // namespace rekindle::coordinator
