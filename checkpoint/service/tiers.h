// Stores shards in the three places where a shard may be, cheapest first: this node's memory, another node's memory,
// and the store. A shard is handed over to all three places, and read from the first that has it whole.
//
// The class is thread-safe. A lost or damaged copy is never an error while another source is left.
#ifndef REKINDLE_CHECKPOINT_SERVICE_TIERS_H_
#define REKINDLE_CHECKPOINT_SERVICE_TIERS_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/service/memory_tier.h"
#include "checkpoint/service/peers.h"
#include "checkpoint/service/staging.h"
#include "checkpoint/store/store.h"
#include "common/metrics/metrics.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {

enum class Tier { kMemory, kPeer, kStore };
const char* NameOf(Tier tier);

class Tiers {
 public:
  using SegmentPtr = MemoryTier::SegmentPtr;
  struct Materialised {
    SegmentPtr segment;
    // `name` is the name by which the reader releases the segment of the shard.
    std::string name;
    Tier tier = Tier::kStore;
  };

  // The caller keeps ownership of the constructor's arguments, which must outlive the Tiers. Shards for trainers are
  // placed in `staging`. `own` and `copies` hold what this node has in memory.
  Tiers(Staging& staging, MemoryTier& own, MemoryTier& copies, Peers& peers, common::Metrics& metrics);
  // The destructor stops copying shards to peers.
  ~Tiers();

  // Opens a segment for `owner`. If there is no room, checkpoints that are held in memory are forgotten.
  absl::StatusOr<SegmentPtr> Open(const SegmentOwner& owner, int64_t bytes);

  // Keeps a shard that a trainer has handed over, and copies it to a peer in the background.
  void HandOver(const std::string& job_uid, CheckpointKey key, const std::string& xxh3, SegmentPtr segment);
  // Sends a manifest that is known to be complete to this node's memory and to all peers, so that its checkpoint can be
  // restored before it is durable. Repeating the call costs nothing. Returns false if this node knows a manifest of a
  // newer generation.
  bool Announce(const Manifest& manifest);

  // Returns the newest checkpoint of all tiers. A checkpoint in memory counts if every shard of it is in the store or
  // is held by a node that answers. Otherwise the newest whole checkpoint of the store is returned. Returns the errors
  // of Store::FindNewest.
  absl::StatusOr<SearchResult> FindNewest(Store& store, const std::string& job_uid, const SearchOptions& options);
  absl::StatusOr<Manifest> ReadManifest(Store& store, const std::string& job_uid, const std::string& name);
  // Places one verified shard in a segment that `owner` may read.
  absl::StatusOr<Materialised> Materialise(Store& store, const SegmentOwner& owner, const ShardRef& ref,
                                           const std::function<bool()>& cancelled);

 private:
  struct Copy {
    std::string job_uid;
    CheckpointKey key;
    std::string xxh3;
    SegmentPtr segment;
  };
  absl::StatusOr<SearchResult> FindNamed(Store& store, const std::string& job_uid, const SearchOptions& options);
  void CopyLoop(std::stop_token stop);
  void TellWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns whether every shard of the manifest can be found. If `store` is null, only shards in the nodes' memory
  // count. `missing` names the first shard that is not found.
  bool IsComplete(Store* store, const Manifest& manifest, const std::vector<PeerHoldings>& peers,
                  std::string* missing) const;
  using Fill = std::function<absl::Status(const Store::Sink& sink, uint8_t* memory)>;
  absl::StatusOr<SegmentPtr> MaterialiseFrom(const SegmentOwner& owner, const ShardRef& ref,
                                             const std::function<bool()>& cancelled, const Fill& fill);

  Staging& staging_;
  MemoryTier& own_;
  MemoryTier& copies_;
  Peers& peers_;
  common::Mutex mutex_;
  common::CondVar changed_;
  std::deque<Copy> queue_ ABSL_GUARDED_BY(mutex_);
  // `copying_` says that a copy of a shard is being sent to a peer. That copy is no longer in `queue_`.
  bool copying_ ABSL_GUARDED_BY(mutex_) = false;
  prometheus::Gauge& waiting_;
  std::jthread thread_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_SERVICE_TIERS_H_
