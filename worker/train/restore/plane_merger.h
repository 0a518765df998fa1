// Merges the planes of a checkpoint's shards into a state on a device: the planes are copied there in pieces, and
// kernels write weights and moments from them.
#ifndef REKINDLE_WORKER_TRAIN_RESTORE_PLANE_MERGER_H_
#define REKINDLE_WORKER_TRAIN_RESTORE_PLANE_MERGER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/planes.h"
#include "checkpoint/format/state_shards.h"
#include "common/sync/mutex.h"
#include "worker/device/contract/device.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

// At most so many elements of a shard pass through the same memory at once. Their planes take 12 bytes an element, and
// pinned memory is kept small, because the system takes long to free it when a process dies.
inline constexpr int64_t kMergedElements = 1 << 20;

// The class is thread-safe. Nobody else may use the compute queue while Merge() runs. The end of a PlaneMerger waits
// until all that was queued is merged.
class PlaneMerger {
 public:
  // `wanted` lists the ranges of the moments that are merged, in order and disjoint. Everything must outlive the
  // PlaneMerger, and `target` needs memory for all that is merged. `piece_elements` is for tests.
  PlaneMerger(device::Device& device, TrainState& target, const std::vector<checkpoint::ElementRange>& wanted,
              int64_t piece_elements = kMergedElements);

  // Takes the memory through which planes pass, less of it where the device has little room. Returns RESOURCE_EXHAUSTED
  // if there is none.
  absl::Status Allocate();
  // Queues the merge of a shard. The planes are not needed any more when Merge() returns.
  absl::StatusOr<checkpoint::ReadState> Merge(std::span<const uint8_t> plane0, std::span<const uint8_t> plane1);

 private:
  // A slot has the planes of a piece: weights, residuals, both halves of each moment, and exponents. Weights that the
  // processor has merged, because some of them are exceptions, take the place of weights and residuals.
  struct Slot {
    bool is_free = true;
    // `left` is a mark behind the newest copy that reads the slot's pinned memory. It is empty before the first one.
    std::optional<device::Mark> left;
  };
  // The threads of a restore are fewer than `kSlots`, so one of them copies while the device reads what another wrote.
  static constexpr size_t kSlots = 5;

  absl::StatusOr<size_t> TakeSlot();
  // Fills the slot's pinned memory with the elements [from, from + count) of the shard. Returns whether the weights are
  // merged already.
  bool Fill(size_t slot, const checkpoint::ShardPlanes& planes, int64_t from, int64_t count);
  void QueuePiece(size_t slot, const checkpoint::ShardPlanes& planes, int64_t from, int64_t count, bool is_merged);
  void QueueWeights(size_t slot, const checkpoint::ShardPlanes& planes, int64_t from, int64_t count);
  void QueueMoments(size_t slot, const checkpoint::ShardPlanes& planes, int64_t from, int64_t count);

  // Returns where the n-th array of 16-bit numbers of a slot begins.
  int64_t Half(size_t slot, size_t n) const;
  int64_t Exponents(size_t slot) const;
  int64_t SlotBytes() const;

  device::Device& device_;
  TrainState& target_;
  const std::vector<checkpoint::ElementRange>& wanted_;
  int64_t piece_;
  device::PinnedMemory pinned_;
  device::Memory scratch_;
  common::Mutex mutex_;
  common::CondVar changed_;
  std::array<Slot, kSlots> slots_ ABSL_GUARDED_BY(mutex_);
  // `queue_mutex_` guards no field. It is held while operations are queued, because one thread at a time may use the
  // queue.
  common::Mutex queue_mutex_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_RESTORE_PLANE_MERGER_H_
