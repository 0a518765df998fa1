// Checkpoints that are held in this node's memory: own shards after their hand-over, copies of other nodes' shards, and
// the manifests that name them. A cache before the store: it may forget anything at any time, and what is read from it
// is verified again.
//
// Of a job it holds the newest checkpoint that a manifest has completed and whatever is newer, at most two checkpoints:
// one to go back to while the next is on its way. Memory is bounded by the Staging that the segments come from.
// Thread-safe.
#ifndef REKINDLE_CHECKPOINT_MEMORY_TIER_H_
#define REKINDLE_CHECKPOINT_MEMORY_TIER_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/manifest.h"
#include "checkpoint/staging.h"
#include "common/shared_memory.h"

namespace rekindle::checkpoint {

// Newer is greater.
struct CheckpointKey {
  int generation = 0;
  int step = 0;

  auto operator<=>(const CheckpointKey&) const = default;
};
inline CheckpointKey KeyOf(const Manifest& manifest) { return {manifest.generation, manifest.step}; }

class MemoryTier {
 public:
  using SegmentPtr = std::shared_ptr<const Staging::Segment>;

  // Holds `segment` as a shard of that checkpoint; forgets checkpoints that are too many. Nothing happens when it is
  // older than what a manifest has completed, or held already.
  void Keep(const std::string& job_uid, CheckpointKey key, const std::string& xxh3, SegmentPtr segment);
  // Null when it is not held.
  SegmentPtr Find(const std::string& job_uid, const std::string& xxh3) const;
  // It was found damaged.
  void Drop(const std::string& job_uid, const std::string& xxh3);

  // Completes a checkpoint: older ones are forgotten. False when one of a newer generation is known: its writer was
  // left out. Repeating it is harmless.
  bool PutManifest(const Manifest& manifest);
  // Newest first, whether or not their shards are held here.
  std::vector<Manifest> Manifests(const std::string& job_uid) const;
  std::optional<Manifest> FindManifest(const std::string& job_uid, const std::string& name) const;
  // XXH3s of what is held.
  std::set<std::string> Held(const std::string& job_uid) const;

  // Makes room: forgets the oldest checkpoint of the job that has most of them. False when nothing is held.
  bool ForgetOldest();
  // Forgets every other job.
  void KeepJobs(const std::set<std::string>& job_uids);

  int64_t bytes() const;

 private:
  struct Checkpoint {
    std::map<std::string, SegmentPtr> shards;  // By XXH3.
    std::optional<Manifest> manifest;
  };
  using Job = std::map<CheckpointKey, Checkpoint>;

  SegmentPtr FindLocked(const Job& job, const std::string& xxh3) const;
  static std::vector<Checkpoint> TakeSurplus(Job& job);

  mutable std::mutex mutex_;
  std::map<std::string, Job> jobs_;
};

// A segment of `staging`, for which `tier` forgets its oldest as long as there is no room. Errors as Staging::Open.
absl::StatusOr<MemoryTier::SegmentPtr> OpenMakingRoom(Staging& staging, MemoryTier& tier, const SegmentOwner& owner,
                                                      int64_t bytes);

struct WholeShard {
  MemoryTier::SegmentPtr segment;
  Staging::Mapping memory;  // Of it, to read.
};
// The first that holds the shard with the bytes its name says; those that hold it damaged forget it.
std::optional<WholeShard> FindWhole(std::initializer_list<MemoryTier*> tiers, const std::string& job_uid,
                                    const std::string& xxh3);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_MEMORY_TIER_H_
