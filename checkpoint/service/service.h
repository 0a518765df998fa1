// Adapts a node's checkpoint service to gRPC: passes requests to staging and store, returns statuses and counts
// metrics. No failed call ends the service. The class is thread-safe.
#ifndef REKINDLE_CHECKPOINT_SERVICE_SERVICE_H_
#define REKINDLE_CHECKPOINT_SERVICE_SERVICE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/service/housekeeper.h"
#include "checkpoint/service/memory_tier.h"
#include "checkpoint/service/peers.h"
#include "checkpoint/service/staging.h"
#include "checkpoint/service/tiers.h"
#include "checkpoint/store/store.h"
#include "checkpoint/store/store_opener.h"
#include "checkpoint/store/store_room.h"
#include "common/files/file.h"
#include "common/metrics/metrics.h"
#include "rekindle/v1/checkpoint.grpc.pb.h"

namespace rekindle::checkpoint {

class CheckpointService final : public v1::Checkpoints::Service {
 public:
  // Lists the parts that the service uses and does not own. All must outlive the service. Peers reach this node at
  // `address`. If that is empty, they cannot reach it.
  struct Parts {
    common::FileSystem& fs;
    // `objects` says how buckets are used, and `endpoints` which servers a store's URI may name.
    common::ObjectStoreOptions objects;
    common::StoreEndpoints endpoints;
    Staging& staging;
    MemoryTier& own;
    MemoryTier& copies;
    Peers& peers;
    Tiers& tiers;
    common::Metrics& metrics;
    std::string address;
    // `node_folder` is the folder of the node, in which the bundles of jobs are.
    std::string node_folder;
  };
  explicit CheckpointService(Parts parts);

  grpc::Status OpenStaging(grpc::ServerContext*, const v1::OpenStagingRequest*, v1::OpenStagingReply*) override;
  grpc::Status CommitShard(grpc::ServerContext*, const v1::CommitShardRequest*, v1::CommitShardReply*) override;
  grpc::Status WriteManifest(grpc::ServerContext*, const v1::WriteManifestRequest*, v1::WriteManifestReply*) override;
  grpc::Status WriteJobFile(grpc::ServerContext*, const v1::WriteJobFileRequest*, v1::WriteJobFileReply*) override;
  grpc::Status ReadJobFile(grpc::ServerContext*, const v1::ReadJobFileRequest*, v1::ReadJobFileReply*) override;
  grpc::Status FindNewest(grpc::ServerContext*, const v1::FindNewestRequest*, v1::FindNewestReply*) override;
  grpc::Status Restore(grpc::ServerContext*, const v1::RestoreRequest*, v1::RestoreReply*) override;
  grpc::Status Release(grpc::ServerContext*, const v1::ReleaseRequest*, v1::ReleaseReply*) override;
  grpc::Status GetInfo(grpc::ServerContext*, const v1::GetInfoRequest*, v1::GetInfoReply*) override;
  grpc::Status SetPeers(grpc::ServerContext*, const v1::SetPeersRequest*, v1::GetInfoReply*) override;

 private:
  absl::Status DoOpen(const v1::OpenStagingRequest& request, v1::OpenStagingReply* reply);
  absl::Status DoCommit(const v1::CommitShardRequest& request, v1::CommitShardReply* reply);
  // Checks that the store has room for `bytes` of a shard before they are written. If it has none, checkpoints that
  // need not stay are collected first.
  absl::Status CheckRoom(const v1::CommitShardRequest& request, int64_t bytes);
  absl::Status DoWriteManifest(const v1::WriteManifestRequest& request, v1::WriteManifestReply* reply);
  // Puts the bundle with the job's code into the store, if it is not there.
  absl::Status KeepBundle(Store& store, const std::string& job_uid, const std::string& address);
  absl::Status DoWriteJobFile(const v1::WriteJobFileRequest& request);
  absl::Status DoReadJobFile(const v1::ReadJobFileRequest& request, v1::ReadJobFileReply* reply);
  absl::Status DoFindNewest(const v1::FindNewestRequest& request, v1::FindNewestReply* reply);
  absl::Status DoRestore(const grpc::ServerContext& context, const v1::RestoreRequest& request,
                         v1::RestoreReply* reply);

  // Runs one gRPC call: measures its time, counts and logs a failure, and converts the status for gRPC.
  grpc::Status Run(const char* operation, const std::function<absl::Status()>& call);

  void FillInfo(v1::GetInfoReply* reply) const;

  const Parts parts_;
  StoreOpener stores_;
  StoreRoom room_;
  Housekeeper housekeeper_;
  const std::string incarnation_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_SERVICE_SERVICE_H_
