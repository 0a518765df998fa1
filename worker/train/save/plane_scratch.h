// Splits snapshots of the state into planes on a device that is not the host, and brings the planes to the host. The
// state may be written again as soon as it is split, long before its planes have come to the host.
//
//   Begin(state, ranges)      The training thread queues the splits of as many shards as the scratch has room for.
//   HoldBack()                The training thread calls it before it queues what changes the state.
//   Next(range), Next ...     The copying thread gets the planes of each shard, and queues the splits of shards that
//                             are left.
//   End()                     The copying thread calls it when it has what it wants, or has failed.
#ifndef REKINDLE_WORKER_TRAIN_SAVE_PLANE_SCRATCH_H_
#define REKINDLE_WORKER_TRAIN_SAVE_PLANE_SCRATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/planes.h"
#include "checkpoint/format/state_shards.h"
#include "common/sync/mutex.h"
#include "worker/device/contract/device.h"

namespace rekindle::train {

// Says where the planes of a shard lie in its slot, in bytes.
struct SlotLayout {
  SlotLayout() = default;
  // `elements` is the length of the longest shard, and `exceptions` the number of exceptions for which a slot has room.
  SlotLayout(int64_t elements, int64_t exceptions, checkpoint::Precision precision, size_t moments);

  int64_t exceptions_capacity = 0;
  int64_t counts = 0, weights = 0, residuals = 0, exponents = 0, index = 0, bits = 0;
  std::array<int64_t, 2> high = {}, low = {};
  int64_t bytes = 0;
};

// The training thread and one copying thread at a time may use a PlaneScratch.
class PlaneScratch {
 public:
  // Names the elements from `origin` on of the weights and of each moment that is kept.
  struct State {
    std::vector<device::Range> parts;
    int64_t origin = 0;
    // `ready` is a mark behind all that has written the state.
    device::Mark ready;
  };

  // `device` must outlive the PlaneScratch, and must not be the host.
  explicit PlaneScratch(device::Device& device) : device_(device) {}

  // Allocates scratch for the shards `ranges`, or for as many of them as the device has room for. Returns
  // RESOURCE_EXHAUSTED if it has no room for one. While a snapshot is under way, everything stays as it is.
  absl::Status Fit(const std::vector<checkpoint::ShardRange>& ranges, checkpoint::Precision precision, size_t moments);

  // Begins a snapshot. Waits until the planes of the one before have left the device, or have not begun to leave it
  // within `seconds`. Then returns DEADLINE_EXCEEDED. Returns the errors of Fit() if there is no scratch yet.
  absl::Status Begin(State state, std::vector<checkpoint::ShardRange> ranges, checkpoint::Precision precision,
                     double seconds);
  // Returns whether all shards of the snapshot are split, or queued to be split, so that HoldBack() covers them.
  bool IsSplit() const;
  // Lets what will be queued on the compute queue wait for the splits that are queued.
  void HoldBack();

  // Returns the planes of the next shard, which is `range`. They stay until the next call. Returns the error of the
  // device, or UNAVAILABLE if the shard has more exceptions than there is room for. Later snapshots then have it.
  absl::StatusOr<checkpoint::SplitRange> Next(const checkpoint::ShardRange& range);
  void End();

 private:
  absl::Status Allocate(size_t shards) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Lay(const std::vector<checkpoint::ShardRange>& ranges, checkpoint::Precision precision, size_t moments)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  size_t SlotsIn(int64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return static_cast<size_t>(bytes / layout_.bytes);
  }
  // Queues the split of the next shard that is not split.
  void Split() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Queues the copy of a shard's planes to the host, and before it the split.
  void Drain() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<checkpoint::SplitRange> PlanesIn(size_t pinned_slot, const checkpoint::ShardRange& range)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  device::Device& device_;
  mutable common::Mutex mutex_;
  common::CondVar changed_;
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  // `has_room_for_all_` says that a slot has room for as many exceptions as it has elements.
  bool has_room_for_all_ ABSL_GUARDED_BY(mutex_) = false;
  device::Memory scratch_ ABSL_GUARDED_BY(mutex_);
  device::PinnedMemory pinned_ ABSL_GUARDED_BY(mutex_);
  SlotLayout layout_ ABSL_GUARDED_BY(mutex_);
  // The fields below belong to the snapshot that is under way. `split_` counts the shards whose splits are queued,
  // `drained_` those whose copies to the host are queued, and `taken_` those that Next() has returned.
  State state_ ABSL_GUARDED_BY(mutex_);
  std::vector<checkpoint::ShardRange> ranges_ ABSL_GUARDED_BY(mutex_);
  checkpoint::Precision precision_ ABSL_GUARDED_BY(mutex_) = checkpoint::Precision::kExact;
  size_t split_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t drained_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  // `is_split_` is a mark behind the splits, and `is_drained_` has one behind the copy of each shard.
  device::Mark is_split_ ABSL_GUARDED_BY(mutex_);
  std::vector<device::Mark> is_drained_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SAVE_PLANE_SCRATCH_H_
