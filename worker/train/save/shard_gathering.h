// Gathers the lists of all ranks' shards of a snapshot, until its manifest can be written.
#ifndef REKINDLE_WORKER_TRAIN_SAVE_SHARD_GATHERING_H_
#define REKINDLE_WORKER_TRAIN_SAVE_SHARD_GATHERING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/format/manifest.h"
#include "checkpoint/format/planes.h"
#include "checkpoint/format/state_shards.h"
#include "worker/train/state/state_scalars.h"

namespace rekindle::train {

// Describes a snapshot of the state. Only the committer needs the losses.
struct SnapshotInfo {
  int generation = 0;
  // `ranges` are the shards that this rank writes. They are in order, and no gap is between them.
  std::vector<checkpoint::ShardRange> ranges;
  checkpoint::Precision precision = checkpoint::Precision::kExact;
  std::optional<double> loss;
  std::optional<double> validation_loss;
  // An urgent save does not run at low priority, because nothing trains until it has ended.
  bool urgent = false;
  // A snapshot that goes to the memory of nodes only is left out while the one before is still being copied or kept,
  // and that is no failure.
  bool memory_only = false;
};

// Lists a rank's shards of one snapshot, for the committer. `refs` is empty if the rank has none.
struct ShardNotes {
  int64_t step = 0;
  std::vector<checkpoint::ShardRef> refs;
};

// Holds a manifest all of whose shards are known.
struct GatheredManifest {
  checkpoint::Manifest manifest;
  // `memory_only` is that of the snapshot.
  bool memory_only = false;
};

// The class is thread-compatible.
class ShardGathering {
 public:
  // Both go into each manifest: the digest of the spec, and the names and shapes of the parameters.
  ShardGathering(std::string spec_digest, std::vector<checkpoint::TensorInfo> tensors)
      : spec_digest_(std::move(spec_digest)), tensors_(std::move(tensors)) {}

  // Notes that the lists of a snapshot's shards will come. What goes to memory only takes no place of a checkpoint.
  void Expect(const SnapshotInfo& info, const StateScalars& scalars);
  // Adds one rank's list. Returns the manifest if all shards of the snapshot are known now. Older snapshots are given
  // up then, unless this one goes to memory only.
  std::optional<GatheredManifest> Add(int generation, const ShardNotes& notes);
  void Clear() { snapshots_.clear(); }

 private:
  struct Snapshot {
    SnapshotInfo info;
    std::string scalars;
    // `refs` holds the shards that are known so far, of all ranks, keyed by the index and the plane of the shard.
    std::map<std::pair<int, int>, checkpoint::ShardRef> refs;
  };

  const std::string spec_digest_;
  const std::vector<checkpoint::TensorInfo> tensors_;
  // `snapshots_` has the snapshots of which not all ranks' shards are known yet, keyed by step. All belong to the
  // running generation.
  std::map<int64_t, Snapshot> snapshots_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SAVE_SHARD_GATHERING_H_
