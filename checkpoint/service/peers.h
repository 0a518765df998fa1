// Knows the checkpoint services of the other nodes, chooses the one that gets a copy of this node's shards, and calls
// them.
//
// All calls have deadlines, which bound how long an unreachable peer delays its caller. The class is thread-safe.
#ifndef REKINDLE_CHECKPOINT_SERVICE_PEERS_H_
#define REKINDLE_CHECKPOINT_SERVICE_PEERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/service/memory_tier.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/checkpoint.grpc.pb.h"

namespace rekindle::checkpoint {

// What two services send each other comes in messages of at most so many bytes of data.
inline constexpr size_t kPeerPieceBytes = 1 << 20;

struct Peer {
  std::string node;
  std::string address;
  // `zone` is the zone of the peer's node. It is empty if the zone is unknown.
  std::string zone;

  auto operator<=>(const Peer&) const = default;
};

// Returns the peer that holds the copy of this node's shards. It is in another zone if there is one, and otherwise any
// other node, chosen such that each node receives about as many copies as it sends. The result's address is empty if
// there is no such peer. The function is pure.
Peer ChooseReplica(const Peer& self, std::vector<Peer> others);

// Lists what one peer holds of a job.
struct PeerHoldings {
  std::string node;
  // `manifests` is sorted, newest first.
  std::vector<Manifest> manifests;
  // `held` contains the XXH3s of the shards that the peer holds.
  std::set<std::string> held;
};

class Peers {
 public:
  // Replaces all known peers. Those without an address, and `self`, are left out.
  void Set(const Peer& self, std::vector<Peer> others);

  Peer Replica() const;

  // Asks all peers at once what they hold of the job.
  std::vector<PeerHoldings> List(const std::string& job_uid);
  // Returns the nodes that held the shard when they were last asked. They are asked again if that was long ago.
  std::vector<std::string> Holders(const std::string& job_uid, const std::string& xxh3);
  // Sends the manifest to all peers at once. Failures are ignored, and peers that could not be reached stay without the
  // manifest.
  void PutManifest(const Manifest& manifest);
  absl::Status Hold(const Peer& peer, const std::string& job_uid, CheckpointKey key, const std::string& xxh3,
                    std::span<const uint8_t> bytes);
  // Fetches a shard from a node and passes the bytes to `sink` as they arrive. The caller must verify them. Returns
  // NOT_FOUND if the node is unknown or does not hold the shard.
  using Sink = std::function<absl::Status(int64_t offset, const void* data, size_t bytes)>;
  absl::Status Fetch(const std::string& node, const std::string& job_uid, const std::string& xxh3, int64_t bytes,
                     const Sink& sink);

 private:
  struct Link {
    Peer peer;
    std::shared_ptr<v1::CheckpointPeers::Stub> stub;
  };
  std::vector<Link> Links() const;
  // Returns the stub for calls to a node, or null if the node is unknown.
  std::shared_ptr<v1::CheckpointPeers::Stub> StubOf(const std::string& node) const;

  mutable common::Mutex mutex_;
  Peer self_ ABSL_GUARDED_BY(mutex_);
  // `links_` maps the name of each known node to the connection to it.
  std::map<std::string, Link> links_ ABSL_GUARDED_BY(mutex_);
  struct Listing {
    double at = 0;
    std::vector<PeerHoldings> holdings;
  };
  // `listings_` maps the uid of a job to what the peers last said that they hold of the job.
  std::map<std::string, Listing> listings_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_SERVICE_PEERS_H_
