// Reads and writes what a state store says of the cluster whose state it holds.
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
  // `listen_first` says that the records in the store may be older than the state of the nodes and trainers that run.
  // So a coordinator that starts on these records first waits for the reports of nodes and trainers, and decides
  // nothing before.
  bool listen_first = false;
  // `superseded_by` is the identity of a coordinator with a later epoch that was heard of. The coordinator of this
  // store decides nothing any more.
  std::optional<common::ClusterIdentity> superseded_by;
};

// Reads the cluster's record. If the store has none, because it is empty or of a release without identities,
// ReadOrMakeCluster makes a record, which is durable on return. The errors are those of the store, and DATA_LOSS when
// the identity in the store cannot be read.
absl::StatusOr<ClusterRecord> ReadOrMakeCluster(StateStore* store);

// Begins another epoch in a store whose content was brought back from a copy. The epoch is durable on return. It is
// later than the store's own epoch, and than an epoch that had superseded it. The errors are those of
// ReadOrMakeCluster.
absl::StatusOr<ClusterRecord> BeginEpoch(StateStore* store);

// Returns the writes that make a store hold `record`, as part of a transaction.
std::vector<Write> ToWrites(const ClusterRecord& record);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_STORE_CLUSTER_RECORD_H_
