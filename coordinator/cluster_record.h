// The identity of the cluster whose state a store holds.
#ifndef REKINDLE_COORDINATOR_CLUSTER_RECORD_H_
#define REKINDLE_COORDINATOR_CLUSTER_RECORD_H_

#include "absl/status/statusor.h"
#include "common/cluster_identity.h"
#include "coordinator/state_store.h"

namespace rekindle::coordinator {

// Made, and durable on return, where there is none: in an empty store, or one of a release that had no identities.
// Errors: those of the store. DATA_LOSS: what is there is none.
absl::StatusOr<common::ClusterIdentity> ReadOrMakeCluster(StateStore* store);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_CLUSTER_RECORD_H_
