// The other nodes' checkpoint services: who they are, where a copy goes, and calls to them.
//
// All calls have deadlines; a peer that does not answer costs its caller at most those. Thread-safe.
#ifndef REKINDLE_CHECKPOINT_PEERS_H_
#define REKINDLE_CHECKPOINT_PEERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/manifest.h"
#include "checkpoint/memory_tier.h"
#include "rekindle/v1/checkpoint.grpc.pb.h"

namespace rekindle::checkpoint {

struct Peer {
  std::string node;
  std::string address;
  std::string zone;  // Empty: unknown.

  auto operator<=>(const Peer&) const = default;
};

// Where `self` puts the copy of its shards: on a node of another zone when there is one, else on another node, so that
// each node gets about as many copies as it gives. Empty address: nowhere. Pure.
Peer ChooseReplica(const Peer& self, std::vector<Peer> others);

// What one peer has of a job.
struct PeerHoldings {
  std::string node;
  std::vector<Manifest> manifests;  // Newest first.
  std::set<std::string> held;       // XXH3s.
};

class Peers {
 public:
  // Replaces all that was known. Peers without an address, and `self`, are left out.
  void Set(const Peer& self, std::vector<Peer> others);

  Peer Replica() const;

  // Asks all at once.
  std::vector<PeerHoldings> List(const std::string& job_uid);
  // Nodes that held it when last asked; asks when that was long ago.
  std::vector<std::string> Holders(const std::string& job_uid, const std::string& xxh3);
  // To all at once; peers that fail go without.
  void PutManifest(const Manifest& manifest);
  absl::Status Hold(const Peer& peer, const std::string& job_uid, CheckpointKey key, const std::string& xxh3,
                    std::span<const uint8_t> bytes);
  // Hands the bytes on as they come; the caller verifies. NOT_FOUND when the node is unknown or does not hold it.
  using Sink = std::function<absl::Status(int64_t offset, const void* data, size_t bytes)>;
  absl::Status Fetch(const std::string& node, const std::string& job_uid, const std::string& xxh3, int64_t bytes,
                     const Sink& sink);

 private:
  struct Link {
    Peer peer;
    std::shared_ptr<v1::CheckpointPeers::Stub> stub;
  };
  std::vector<Link> Links() const;
  // Null when the node is unknown.
  std::shared_ptr<v1::CheckpointPeers::Stub> StubOf(const std::string& node) const;

  mutable std::mutex mutex_;
  Peer self_;
  std::map<std::string, Link> links_;  // By node.
  struct Listing {
    double at = 0;
    std::vector<PeerHoldings> holdings;
  };
  std::map<std::string, Listing> listings_;  // By job.
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_PEERS_H_
