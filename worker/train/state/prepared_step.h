// Makes a step of a state whose moments are in shards. Between its reduction and its application, the first holder of
// each shard sends the new weights to all ranks.
#ifndef REKINDLE_WORKER_TRAIN_STATE_PREPARED_STEP_H_
#define REKINDLE_WORKER_TRAIN_STATE_PREPARED_STEP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "worker/contract/model_interface.h"
#include "worker/device/contract/device.h"
#include "worker/device/exchange/exchange.h"
#include "worker/train/arithmetic/gradient_buffer.h"
#include "worker/train/control/reporter.h"
#include "worker/train/state/optimizer.h"
#include "worker/train/state/shard_map.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

// Holds a step that is reduced and not yet applied, if there is one. While the step's gradient is kept, this rank can
// apply it to the moments that it holds, without any other rank. The class is thread-compatible.
class PreparedStep {
 public:
  // `device`, `layout` and `reporter` must outlive the PreparedStep.
  PreparedStep(device::Device& device, const ParameterLayout& layout, Reporter& reporter);

  // Takes what steps need on any number of ranks, on a device whose memory is its own. Others may take such memory
  // before it is needed, which is when ranks were lost and shards grow. Returns RESOURCE_EXHAUSTED if the device has no
  // room.
  absl::Status Reserve();
  // Allocates the memory that steps with the shards of `deal` need. On the host that is no more than they need. Returns
  // RESOURCE_EXHAUSTED if the device has no room.
  absl::Status Fit(const ShardDeal& deal, int world_size);
  // Returns the number of bytes that were allocated.
  int64_t bytes() const { return outgoing_.bytes() + sink_.bytes(); }

  // Prepares a step, as Placement::Prepare() says. An error aborts the communicator.
  absl::Status Prepare(const ShardDeal& deal, std::optional<PlannedUpdate> update, const GradientBuffer* reduced,
                       device::Exchange& exchange, const TrainState& state);
  bool exists() const { return pending_.has_value(); }
  // Writes the new weights of all shards, and the new moments of the elements in `held`. Returns INTERNAL if the two
  // holders of a shard computed different weights. REQUIRES: exists().
  absl::Status Apply(const ShardDeal& deal, const ElementSet& held, TrainState& state);
  void Forget() { pending_.reset(); }

  // Returns the operation that writes the weights and moments of `range` after the step to `out`. REQUIRES: exists().
  device::Operation NewValuesOf(const TrainState& state, const ElementRange& range, const NewValues& out) const;
  // Changes the weights and moments of the elements in `held` to those after the step. REQUIRES: exists().
  void UpdateHeld(const ElementSet& held, TrainState& state) const;

 private:
  struct Pending {
    // `update` is the planned update of the step. It is empty for a skipped batch.
    std::optional<PlannedUpdate> update;
    // `reduced` holds the reduced gradient. For shards that this rank does not hold, the new weights replace it once
    // they have arrived.
    const GradientBuffer* reduced = nullptr;
    // `hashes` has one value a rank, the hash of the new weights of the shard whose first holder the rank is.
    std::vector<uint64_t> hashes;
  };

  absl::Status Fit(int64_t outgoing, int64_t largest);
  // Returns the part of a shard without the buffers, because every rank updates the buffers by itself.
  ElementRange TrainedPart(const StateShard& shard) const;
  // Returns where the new weights of a shard that this rank does not hold are kept.
  device::Range Incoming(const StateShard& shard, const ElementRange& range) const;
  absl::Status IssueAll(const ShardDeal& deal, device::Exchange& exchange, const TrainState& state);
  void IssuePiece(const ShardDeal& deal, const StateShard& shard, const ElementRange& piece, device::Exchange& exchange,
                  const TrainState& state);
  absl::StatusOr<uint64_t> HashOf(const device::Range& floats);
  absl::StatusOr<uint64_t> HashOfOutgoing(const ShardDeal& deal);

  device::Device& device_;
  const ParameterLayout& layout_;
  Reporter& reporter_;
  // `trained_` is the number of trained elements, which lie before the buffers.
  const int64_t trained_;
  std::optional<Pending> pending_;
  // `outgoing_` holds the new weights of the shard of which this rank is the first holder.
  FloatBuffer outgoing_;
  // `sink_` takes pieces of new weights that this rank does not need but has to forward along the ring.
  FloatBuffer sink_;
  // `hash_` takes a hash of new weights (kernels/sums/word_hash.h), and `hash_on_host_` brings it to the host.
  device::Memory hash_;
  device::PinnedMemory hash_on_host_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_PREPARED_STEP_H_
