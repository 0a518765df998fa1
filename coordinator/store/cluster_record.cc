#include "coordinator/store/cluster_record.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "coordinator/store/record_keys.h"

namespace rekindle::coordinator {
namespace {

constexpr char kListenFirst[] = "cluster/listen_first";
constexpr char kSupersededBy[] = "cluster/superseded_by";

// Returns the identity that the store has under `key`, or the empty identity when it has none.
absl::StatusOr<common::ClusterIdentity> ReadIdentity(StateStore* store, const char* key) {
  const absl::StatusOr<std::optional<Entry>> found = store->Get(key);
  if (!found.ok()) return found.status();
  if (!*found) return common::ClusterIdentity();
  absl::StatusOr<common::ClusterIdentity> identity = common::ParseClusterIdentity((*found)->value);
  if (identity.ok()) return identity;
  return absl::DataLossError(absl::StrCat("the state store: ", key, ": ", std::string(identity.status().message())));
}

absl::Status Save(StateStore* store, const ClusterRecord& record) {
  return store->Commit({.writes = ToWrites(record), .events = {}}).status();
}

}  // namespace

std::vector<Write> ToWrites(const ClusterRecord& record) {
  const auto text = [](bool there, std::string value) {
    return there ? std::optional<std::string>(std::move(value)) : std::nullopt;
  };
  const common::ClusterIdentity by = record.superseded_by.value_or(common::ClusterIdentity());
  return {{kIdentityKey, common::Describe(record.identity), std::nullopt},
          {kListenFirst, text(record.listen_first, "yes"), std::nullopt},
          {kSupersededBy, text(record.superseded_by.has_value(), common::Describe(by)), std::nullopt}};
}

absl::StatusOr<ClusterRecord> ReadOrMakeCluster(StateStore* store) {
  ClusterRecord record;
  const absl::StatusOr<common::ClusterIdentity> identity = ReadIdentity(store, kIdentityKey);
  if (!identity.ok()) return identity.status();
  const absl::StatusOr<common::ClusterIdentity> by = ReadIdentity(store, kSupersededBy);
  if (!by.ok()) return by.status();
  const absl::StatusOr<std::optional<Entry>> listen_first = store->Get(kListenFirst);
  if (!listen_first.ok()) return listen_first.status();
  record.identity = *identity;
  record.listen_first = listen_first->has_value();
  if (!by->cluster.empty()) record.superseded_by = *by;
  if (!record.identity.cluster.empty()) return record;
  record.identity = common::NewCluster();
  if (absl::Status written = Save(store, record); !written.ok()) return written;
  log::Info("a new cluster begins", {{"cluster", common::Describe(record.identity)}});
  return record;
}

absl::StatusOr<ClusterRecord> BeginEpoch(StateStore* store) {
  absl::StatusOr<ClusterRecord> record = ReadOrMakeCluster(store);
  if (!record.ok()) return record;
  record->identity = common::NextEpoch(record->identity, record->superseded_by.value_or(common::ClusterIdentity()));
  record->superseded_by.reset();
  record->listen_first = true;
  if (absl::Status written = Save(store, *record); !written.ok()) return written;
  return record;
}

}  // namespace rekindle::coordinator
