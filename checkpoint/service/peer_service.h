// Serves the checkpoint services of other nodes: holds copies of their shards, and sends them the shards that this node
// holds. All input is bounded, and verified before it counts. The class is thread-safe.
#ifndef REKINDLE_CHECKPOINT_SERVICE_PEER_SERVICE_H_
#define REKINDLE_CHECKPOINT_SERVICE_PEER_SERVICE_H_

#include <string>

#include "absl/status/status.h"
#include "checkpoint/service/memory_tier.h"
#include "checkpoint/service/staging.h"
#include "common/process/process.h"
#include "rekindle/v1/checkpoint.grpc.pb.h"

namespace rekindle::checkpoint {

class PeerService final : public v1::CheckpointPeers::Service {
 public:
  // `room`, `copies` and `own` stay the caller's and must outlive the PeerService. Copies of other nodes' shards take
  // their memory from `room`, which bounds it, and are held in `copies`. `own` holds the shards that this node's
  // trainers handed over.
  PeerService(Staging& room, MemoryTier& copies, MemoryTier& own);

  grpc::Status Hold(grpc::ServerContext*, grpc::ServerReader<v1::HoldRequest>*, v1::HoldReply*) override;
  grpc::Status Fetch(grpc::ServerContext*, const v1::FetchRequest*, grpc::ServerWriter<v1::FetchReply>*) override;
  grpc::Status PutManifest(grpc::ServerContext*, const v1::PutManifestRequest*, v1::PutManifestReply*) override;
  grpc::Status List(grpc::ServerContext*, const v1::ListHeldRequest*, v1::ListHeldReply*) override;

 private:
  absl::Status DoHold(grpc::ServerReader<v1::HoldRequest>& reader);
  absl::Status Receive(grpc::ServerReader<v1::HoldRequest>& reader, const Staging::Segment& segment,
                       const std::string& xxh3);

  Staging& room_;
  MemoryTier& copies_;
  MemoryTier& own_;
  const common::ProcessIdentity self_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_SERVICE_PEER_SERVICE_H_
