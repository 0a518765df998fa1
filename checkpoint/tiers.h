// Where a shard may lie, cheapest first: this node's memory, another node's memory, the store. Hands over to all of
// them, and takes back from the first that has it whole.
//
// Thread-safe. A lost or damaged copy is never an error while another source is left.
#ifndef REKINDLE_CHECKPOINT_TIERS_H_
#define REKINDLE_CHECKPOINT_TIERS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/memory_tier.h"
#include "checkpoint/peers.h"
#include "checkpoint/staging.h"
#include "checkpoint/store.h"
#include "common/metrics.h"

namespace rekindle::checkpoint {

enum class Tier { kMemory, kPeer, kStore };
const char* NameOf(Tier tier);

class Tiers {
 public:
  using SegmentPtr = MemoryTier::SegmentPtr;
  struct Laid {
    SegmentPtr segment;
    std::string name;  // What the reader releases.
    Tier tier = Tier::kStore;
  };

  // `staging` is where shards for trainers are laid; `own` and `copies` what this node holds. None is owned; all must
  // outlive it.
  Tiers(Staging& staging, MemoryTier& own, MemoryTier& copies, Peers& peers, common::Metrics& metrics);
  // Ends copying.
  ~Tiers();

  // A segment for `owner`; makes room by forgetting what is held.
  absl::StatusOr<SegmentPtr> Open(const SegmentOwner& owner, int64_t bytes);

  // A trainer has handed over a shard: it is kept here, and a copy goes to a peer meanwhile.
  void HandOver(const std::string& job_uid, CheckpointKey key, const std::string& xxh3, SegmentPtr segment);
  // A manifest is known to be complete: tells this node's memory and all peers, so that it can be restored before it is
  // durable. Repeating it costs nothing.
  void Announce(const Manifest& manifest);

  // The newest of all: in memory when every shard of it is held by somebody who answers, or is in the store; else what
  // the store has whole. Errors as Store::FindNewest.
  absl::StatusOr<Newest> FindNewest(Store& store, const std::string& job_uid, const Look& look);
  absl::StatusOr<Manifest> ReadManifest(Store& store, const std::string& job_uid, const std::string& name);
  // One verified shard in memory that `owner` may read.
  absl::StatusOr<Laid> Lay(Store& store, const SegmentOwner& owner, const ShardRef& ref,
                           const std::function<bool()>& cancelled);

 private:
  struct Copy {
    std::string job_uid;
    CheckpointKey key;
    std::string xxh3;
    SegmentPtr segment;
  };
  absl::StatusOr<Newest> FindNamed(Store& store, const std::string& job_uid, const Look& look);
  void CopyLoop(std::stop_token stop);
  void TellWaiting();  // REQUIRES: mutex_ held.
  // `store`: null where shards in memory alone count. `missing` says which one is not.
  bool IsComplete(Store* store, const Manifest& manifest, const std::vector<PeerHoldings>& peers,
                  std::string* missing) const;
  using Fill = std::function<absl::Status(const Store::Sink& sink, uint8_t* memory)>;
  absl::StatusOr<SegmentPtr> LayFrom(const SegmentOwner& owner, const ShardRef& ref,
                                     const std::function<bool()>& cancelled, const Fill& fill);

  Staging& staging_;
  MemoryTier& own_;
  MemoryTier& copies_;
  Peers& peers_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Copy> queue_;
  bool copying_ = false;  // One that is in no queue any more.
  prometheus::Gauge& waiting_;
  std::string announced_;  // Name of the newest manifest that was announced.
  std::jthread thread_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_TIERS_H_
