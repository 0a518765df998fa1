// Declares where the optimizer's moments are: either whole on every rank, or in shards on two ranks each
// (training.optimizer_state). Placement hides the differences between the two, so that the engine does not know which
// one it runs.
//
// The calls in a generation come in this order: Enter, then Transfer (or Replaced when a state was made or restored),
// then ReleaseUnwanted, then Prepare and Apply for each step.
#ifndef REKINDLE_WORKER_TRAIN_STATE_PLACEMENT_H_
#define REKINDLE_WORKER_TRAIN_STATE_PLACEMENT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/state_shards.h"
#include "worker/contract/model_interface.h"
#include "worker/contract/spec.h"
#include "worker/device/contract/device.h"
#include "worker/device/exchange/exchange.h"
#include "worker/train/arithmetic/gradient_buffer.h"
#include "worker/train/control/control_plane.h"
#include "worker/train/control/reporter.h"
#include "worker/train/state/optimizer.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

// Placement is thread-compatible.
class Placement {
 public:
  virtual ~Placement() = default;

  // Returns a state of zeros that has room for all that this rank has to hold in the generation that was entered.
  // Returns RESOURCE_EXHAUSTED if the device has no room.
  virtual absl::StatusOr<TrainState> Zero() const = 0;
  // Takes the memory beside the state that later steps need, where others could take it before. Returns
  // RESOURCE_EXHAUSTED if the device has no room.
  virtual absl::Status Reserve() = 0;
  // Gives a state from Zero() memory for what this rank has to hold in the generation that was entered since. Returns
  // RESOURCE_EXHAUSTED if the device has no room.
  virtual absl::Status MakeRoom(TrainState& state) const = 0;

  virtual absl::Status Enter(const Membership& membership, int rank) = 0;

  // Hands state on to the ranks that need it. The call is collective, and the membership's source must be a rank. A
  // receiver writes its state only when everything has arrived and `may_swap` agrees. Otherwise it returns ABORTED. An
  // error leaves the old state whole. Without `has_state` there is none, and its memory may be used.
  virtual absl::Status Transfer(device::Exchange& exchange, const Membership& membership, bool has_state,
                                const std::function<bool()>& may_swap, TrainState& state) = 0;
  // Returns the moments that this rank must get from a checkpoint, or null for all of them.
  virtual const std::vector<checkpoint::ElementRange>* Wanted() const = 0;
  // Tells the placement that the state was replaced by one that has the wanted moments. `whole` is false if the
  // replacement failed, so that no valid state is left.
  virtual void Replaced(bool whole) = 0;
  // Frees the moments that were kept for other ranks. The call is collective. Every rank must have its state.
  virtual absl::Status ReleaseUnwanted(device::Exchange& exchange, TrainState& state) = 0;

  // Gets from the other ranks all that applying the step needs. The call is collective and comes between reducing and
  // applying. It does not write the state. If `update` is empty, the batch is skipped. `reduced` holds the update's
  // gradient and may be overwritten.
  virtual absl::Status Prepare(std::optional<PlannedUpdate> update, const GradientBuffer* reduced,
                               device::Exchange& exchange, const TrainState& state) = 0;
  // Queues the writes of the prepared weights and moments. After an error the state is no longer valid.
  virtual absl::Status Apply(TrainState& state) = 0;
  // Drops the prepared step without applying it. The caller calls Forget() when the state is of no use to any rank any
  // more.
  virtual void Forget() = 0;

  // Returns the files of a checkpoint of the job's state, and the ranks that write them.
  virtual std::vector<checkpoint::ShardRange> Files(int world_size) const = 0;
  // Returns the StateDigest of the whole state. The call is collective.
  virtual absl::StatusOr<std::string> Digest(device::Exchange& exchange, const TrainState& state) = 0;
  // Returns a note of the memory that the placement saves on this rank, as measured, or nothing if there is nothing to
  // report.
  virtual std::optional<LeverNote> Saved(const TrainState& state) const = 0;
};

// Makes the placement that training.optimizer_state asks for. All arguments must outlive the Placement.
std::unique_ptr<Placement> MakePlacement(device::Device& device, const TrainSpec& spec, const ParameterLayout& layout,
                                         Reporter& reporter);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_PLACEMENT_H_
