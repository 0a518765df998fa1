// Holds checkpoints in this node's memory: shards that its own trainers handed over, copies of other nodes' shards, and
// the manifests that name them. The tier is a cache before the store. It may forget anything at any time, and readers
// verify again what they read from it.
//
// For each job the tier holds at most two checkpoints: the newest one that a manifest has completed, to go back to, and
// the newest one of those that are being written. The Staging that the segments come from bounds the
// memory. The class is thread-safe.
#ifndef REKINDLE_CHECKPOINT_SERVICE_MEMORY_TIER_H_
#define REKINDLE_CHECKPOINT_SERVICE_MEMORY_TIER_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/service/staging.h"
#include "common/memory/shared_memory.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {

// Orders checkpoints by age. A newer one is greater.
struct CheckpointKey {
  int generation = 0;
  int step = 0;

  auto operator<=>(const CheckpointKey&) const = default;
};
inline CheckpointKey KeyOf(const Manifest& manifest) { return {manifest.generation, manifest.step}; }

class MemoryTier {
 public:
  using SegmentPtr = std::shared_ptr<const Staging::Segment>;

  // Holds `segment` as the shard `xxh3` of the checkpoint `key`, and forgets the oldest checkpoints if there are too
  // many. The call does nothing if the checkpoint is older than one that a manifest has completed, or if the shard is
  // already held.
  void Keep(const std::string& job_uid, CheckpointKey key, const std::string& xxh3, SegmentPtr segment);
  // Returns the segment of a shard, or null if the shard is not held.
  SegmentPtr Find(const std::string& job_uid, const std::string& xxh3) const;
  // Forgets a shard whose bytes were found to be damaged.
  void Drop(const std::string& job_uid, const std::string& xxh3);

  // Completes the checkpoint of the manifest and forgets older ones. Returns false if the tier knows a manifest of a
  // newer generation, which has left out the writer of `manifest`. Repeating a call is harmless.
  bool PutManifest(const Manifest& manifest);
  // Returns the job's manifests that the tier knows, newest first, whether or not the tier holds their shards.
  std::vector<Manifest> Manifests(const std::string& job_uid) const;
  std::optional<Manifest> FindManifest(const std::string& job_uid, const std::string& name) const;
  // Returns the XXH3s of all shards of the job that the tier holds.
  std::set<std::string> Held(const std::string& job_uid) const;

  // Makes room in the memory tier: forgets a checkpoint of the job of which the tier holds the most. That is the
  // oldest, but the newest complete one only if there is no other. Returns false if the tier holds nothing.
  bool ForgetOldest();
  // Forgets every job that is not in `job_uids`.
  void KeepJobs(const std::set<std::string>& job_uids);

  int64_t bytes() const;

 private:
  struct Checkpoint {
    // `shards` maps the XXH3 of each shard to the segment that holds the shard.
    std::map<std::string, SegmentPtr> shards;
    std::optional<Manifest> manifest;
  };
  using Job = std::map<CheckpointKey, Checkpoint>;

  SegmentPtr FindLocked(const Job& job, const std::string& xxh3) const;
  static Job::iterator NewestComplete(Job& job);
  static Job::iterator FirstToForget(Job& job);
  static std::vector<Checkpoint> TakeSurplus(Job& job);

  mutable common::Mutex mutex_;
  std::map<std::string, Job> jobs_ ABSL_GUARDED_BY(mutex_);
};

// Opens a segment of `staging`. As long as there is no room, `tier` forgets its oldest checkpoint. Returns the errors
// of Staging::Open.
absl::StatusOr<MemoryTier::SegmentPtr> OpenMakingRoom(Staging& staging, MemoryTier& tier, const SegmentOwner& owner,
                                                      int64_t bytes);

struct WholeShard {
  MemoryTier::SegmentPtr segment;
  // `memory` is the segment of the shard, mapped for reading.
  Staging::Mapping memory;
};
// Returns the shard `xxh3` from the first of `tiers` that holds it undamaged. A tier that holds a damaged copy forgets
// it.
std::optional<WholeShard> FindWhole(std::initializer_list<MemoryTier*> tiers, const std::string& job_uid,
                                    const std::string& xxh3);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_SERVICE_MEMORY_TIER_H_
