// Reads and writes what a store says of the cluster whose state it holds.
#ifndef REKINDLE_COORDINATOR_STORE_CLUSTER_RECORD_H_
#define REKINDLE_COORDINATOR_STORE_CLUSTER_RECORD_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/agreed/cluster_identity.h"
#include "coordinator/store/state_store.h"

namespace rekindle::coordinator {

struct ClusterRecord {
  common::ClusterIdentity identity;
  // The records may be older than what runs, so a coordinator that starts on them listens before it decides.
  bool listen_first = false;
  // A coordinator of that later epoch was heard of, so this one decides nothing any more.
  std::optional<common::ClusterIdentity> superseded_by;
};

// Reads the record. If there is none, because the store is empty or of a release without identities, it makes one,
// which is durable on return. The errors are those of the store, and DATA_LOSS when the identity there cannot be read.
absl::StatusOr<ClusterRecord> ReadOrMakeCluster(StateStore* store);

// Begins another epoch in a store whose content was brought back from a copy. The epoch is durable on return. It is
// later than the store's own, and than one that had superseded it. The errors are those of ReadOrMakeCluster.
absl::StatusOr<ClusterRecord> BeginEpoch(StateStore* store);

// Returns the writes that make a store hold `record`, as part of a transaction.
std::vector<Write> ToWrites(const ClusterRecord& record);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_STORE_CLUSTER_RECORD_H_
