// Makes a step of a state whose moments are in shards. Between its reduction and its application, the first holder of
// each shard sends the new weights to all ranks.
#ifndef REKINDLE_WORKER_TRAIN_STATE_PREPARED_STEP_H_
#define REKINDLE_WORKER_TRAIN_STATE_PREPARED_STEP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "worker/comm/contract/communicator.h"
#include "worker/comm/contract/work.h"
#include "worker/contract/model_interface.h"
#include "worker/train/arithmetic/gradient_view.h"
#include "worker/train/control/reporter.h"
#include "worker/train/state/optimizer.h"
#include "worker/train/state/shard_map.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

// Holds a step that is reduced and not yet applied, if there is one. While the step's gradient is kept, this rank can
// apply it to the moments that it holds, without any other rank. The class is thread-compatible.
class PreparedStep {
 public:
  // `moments` is the number of moments that the optimizer keeps. `layout` and `reporter` must outlive the PreparedStep.
  PreparedStep(const ParameterLayout& layout, int moments, Reporter& reporter);

  // Allocates the memory that steps with the shards of `deal` need, and no more.
  void Fit(const ShardDeal& deal, int world_size);
  // Returns the number of bytes that Fit() has allocated.
  int64_t bytes() const;

  // Prepares a step, as Placement::Prepare() says. An error aborts the communicator.
  absl::Status Prepare(const ShardDeal& deal, std::optional<PlannedUpdate> update, GradientBuffer* reduced,
                       comm::Communicator& communicator, const TrainState& state);
  bool exists() const { return pending_.has_value(); }
  // Writes the new weights of all shards, and the new moments of the elements in `held`. Returns INTERNAL if the two
  // holders of a shard computed different weights. REQUIRES: exists().
  absl::Status Apply(const ShardDeal& deal, const ElementSet& held, TrainState& state);
  void Forget() { pending_.reset(); }

  // Computes the weights and moments of `range` after the step, out of place. REQUIRES: exists().
  void MakeNew(const TrainState& state, const ElementRange& range, const FlatState& out) const;
  // Changes the weights and moments of the elements in `held` to those after the step. REQUIRES: exists().
  void UpdateHeld(const ElementSet& held, TrainState& state) const;

 private:
  struct Pending {
    // `update` is the planned update of the step. It is empty for a skipped batch.
    std::optional<PlannedUpdate> update;
    // `reduced` holds the reduced gradient. For shards that this rank does not hold, the new weights replace it once
    // they have arrived.
    GradientBuffer* reduced = nullptr;
    // `hashes` has one value a rank, the hash of the new weights of the shard whose first holder the rank is.
    std::vector<uint64_t> hashes;
  };

  // Returns the part of a shard without the buffers, because every rank updates the buffers by itself.
  ElementRange TrainedPart(const StateShard& shard) const;
  // Returns where the new weights of a shard that this rank does not hold are kept.
  float* Incoming(const StateShard& shard, int64_t element) const;
  absl::Status IssueAll(const ShardDeal& deal, comm::Communicator& communicator, const TrainState& state,
                        std::vector<comm::Work>* works);
  absl::Status IssuePiece(const ShardDeal& deal, const StateShard& shard, const ElementRange& piece,
                          comm::Communicator& communicator, const TrainState& state, std::vector<comm::Work>* works);
  uint64_t HashOfOutgoing(const ShardDeal& deal) const;

  const ParameterLayout& layout_;
  const int moments_;
  Reporter& reporter_;
  // `trained_` is the number of trained elements, which lie before the buffers.
  const int64_t trained_;
  std::optional<Pending> pending_;
  // `outgoing_` holds the new weights of the shard of which this rank is the first holder.
  FloatBuffer outgoing_;
  // `sink_` takes pieces of new weights that this rank does not need but has to forward along the ring.
  FloatBuffer sink_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_PREPARED_STEP_H_
