// What a node's checkpoint service does for other nodes: holds copies of their shards, and hands out what it holds.
// Everything that comes in is bounded, and verified before it counts. Thread-safe.
#ifndef REKINDLE_CHECKPOINT_PEER_SERVICE_H_
#define REKINDLE_CHECKPOINT_PEER_SERVICE_H_

#include <string>

#include "absl/status/status.h"
#include "checkpoint/memory_tier.h"
#include "checkpoint/staging.h"
#include "common/process.h"
#include "rekindle/v1/checkpoint.grpc.pb.h"

namespace rekindle::checkpoint {

class PeerService final : public v1::CheckpointPeers::Service {
 public:
  // None is owned; all must outlive it. Copies take their memory from `room`, which bounds it, and lie in `copies`;
  // `own` is what this node's trainers handed over.
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

#endif  // REKINDLE_CHECKPOINT_PEER_SERVICE_H_
