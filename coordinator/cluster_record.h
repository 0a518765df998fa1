// What a store says of the cluster whose state it holds.
#ifndef REKINDLE_COORDINATOR_CLUSTER_RECORD_H_
#define REKINDLE_COORDINATOR_CLUSTER_RECORD_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cluster_identity.h"
#include "coordinator/state_store.h"

namespace rekindle::coordinator {

struct ClusterRecord {
  common::ClusterIdentity identity;
  // The records may be older than what runs: whoever starts on them listens before it decides.
  bool listen_first = false;
  // A coordinator of that later epoch was heard of: this one decides nothing any more.
  std::optional<common::ClusterIdentity> superseded_by;
};

// Made, and durable on return, where there is none: in an empty store, or one of a release that had no identities.
// Errors: those of the store. DATA_LOSS: what is there is none.
absl::StatusOr<ClusterRecord> ReadOrMakeCluster(StateStore* store);

// Begins another epoch, durable on return, of a store whose content was brought back from a copy: later than its own,
// and than one that had superseded it. Errors as above.
absl::StatusOr<ClusterRecord> BeginEpoch(StateStore* store);

// What makes a store hold `record`, as part of a transaction.
std::vector<Write> ToWrites(const ClusterRecord& record);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_CLUSTER_RECORD_H_
