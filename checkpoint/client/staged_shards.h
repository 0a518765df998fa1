// Stages the shards of a snapshot: copies the state into shared memory and has the checkpoint service write it to the
// store. This header includes neither torch nor protobuf.
//
// Only one thread at a time may use a StagedShards, except for its Copy.
#ifndef REKINDLE_CHECKPOINT_CLIENT_STAGED_SHARDS_H_
#define REKINDLE_CHECKPOINT_CLIENT_STAGED_SHARDS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/format/planes.h"
#include "checkpoint/format/state_shards.h"

namespace rekindle::checkpoint {

class ClientCore;

// Identifies a snapshot of the state and says how to treat it.
struct SnapshotKey {
  int generation = 0;
  int step = 0;
  // `total` is the number of elements of the state.
  int64_t total = 0;
  Precision precision = Precision::kExact;
  // `urgent` says that training waits for the snapshot, so its shards are not written at low priority.
  bool urgent = false;
  // `memory_only` says that the shards are kept in the memory of nodes and not written to the store.
  bool memory_only = false;
};

// Holds one rank's shards between Stage and Commit, in shared memory that the service bounds. The destructor gives the
// memory back. The object must not outlive its client.
class StagedShards {
 public:
  virtual ~StagedShards() = default;
  // Splits, copies and hashes the state. Copy() allocates no memory of the state's size, and makes no RPC, except once
  // in a process if a state has more exceptions (planes.h) than room was reserved for. On return the caller may change
  // the state. FAILED_PRECONDITION says that the state has NaN or infinities and the options do not allow them. Copied
  // shards are already on their way to the store while the next ones are being copied. Any number of threads may call
  // Copy() with the same state. Each thread takes shards that no other has begun. All return with the same status when
  // no thread copies any more.
  virtual absl::Status Copy(const StateView& state) = 0;
  // Works like Copy() for a state that is split elsewhere. `next` is called once for each shard, in the order of the
  // ranges. What it returns must stay as it is until its next call. Only one thread may call CopySplit().
  using NextSplit = std::function<absl::StatusOr<SplitRange>(const ShardRange& range)>;
  virtual absl::Status CopySplit(const NextSplit& next) = 0;
  // Returns the refs of all shards, first all of plane 0, then all of plane 1. The refs are valid after Copy.
  virtual const std::vector<ShardRef>& refs() const = 0;
  // Returns when all shards are durable, or, if they go to memory only, held by this node's service. Among the planes
  // that wait to be written, plane 0 goes first. If the service was restarted in between, the shards are sent again.
  virtual absl::Status Commit() = 0;
  // Returns for how many seconds the writes stood still because training had the processors. The result is 0 for urgent
  // snapshots. The caller must call it after Commit.
  virtual double held_up_seconds() const = 0;
};

// Reserves shared memory segments for the shards `ranges` of a state. `core` makes the calls to the service and must
// outlive the result.
absl::StatusOr<std::unique_ptr<StagedShards>> StageShards(ClientCore& core, const SnapshotKey& snapshot,
                                                          const std::vector<ShardRange>& ranges);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_CLIENT_STAGED_SHARDS_H_
