// Where the optimizer's moments lie: whole on every rank, or in shards on two ranks each (training.optimizer_state).
// What differs between the two is here, so that the engine does not know which it runs.
//
// The order in a generation: Enter; then Transfer, or Replaced when a state was made or restored; Settle; then for each
// step Prepare and Apply.
#ifndef REKINDLE_WORKER_TRAIN_PLACEMENT_H_
#define REKINDLE_WORKER_TRAIN_PLACEMENT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/state_shards.h"
#include "worker/comm/communicator.h"
#include "worker/train/control_plane.h"
#include "worker/train/gradient_view.h"
#include "worker/train/model.h"
#include "worker/train/optimizer.h"
#include "worker/train/reporter.h"
#include "worker/train/spec.h"
#include "worker/train/state.h"

namespace rekindle::train {

// Thread-compatible.
class Placement {
 public:
  virtual ~Placement() = default;

  // Zeros, with memory for what any rank may hold of it.
  virtual TrainState Zero() const = 0;

  virtual absl::Status Enter(const Membership& membership, int rank) = 0;

  // Collective, with a source that is a rank: hands its state on to whoever needs it. A receiver writes its state only
  // when all of it has arrived and `may_swap` agrees (else ABORTED); an error leaves its old state whole.
  virtual absl::Status Transfer(comm::Communicator& communicator, const Membership& membership,
                                const std::function<bool()>& may_swap, TrainState& state) = 0;
  // The moments that this rank must get from a checkpoint; null: all.
  virtual const std::vector<checkpoint::ElementRange>* Wanted() const = 0;
  // The state is a new one, which has what is wanted; `whole` false: it is none any more.
  virtual void Replaced(bool whole) = 0;
  // Collective: every rank has its state; what was kept for others is given back.
  virtual absl::Status Settle(comm::Communicator& communicator, TrainState& state) = 0;

  // Collective, between reducing and applying a step: all that applying needs from other ranks. Nothing of the state is
  // written. No update: the batch is skipped. `reduced` holds the update's gradient and is free to be overwritten.
  virtual absl::Status Prepare(std::optional<PlannedUpdate> update, GradientBuffer* reduced,
                               comm::Communicator& communicator, const TrainState& state) = 0;
  // Writes weights and moments: what was prepared. After an error the state is no good any more.
  virtual absl::Status Apply(TrainState& state) = 0;
  // What was prepared shall not be applied: the state is of use to nobody.
  virtual void Forget() = 0;

  // The shards of a checkpoint of it, and who writes each.
  virtual std::vector<checkpoint::ShardRange> Files(int world_size) const = 0;
  // Collective: the StateDigest of the whole.
  virtual absl::StatusOr<std::string> Digest(comm::Communicator& communicator, TrainState& state) = 0;
  // What it saves on this rank, measured; nothing when it has nothing to tell.
  virtual std::optional<LeverNote> Saved(const TrainState& state) const = 0;
};

// All outlive it.
std::unique_ptr<Placement> MakePlacement(const TrainSpec& spec, const ParameterLayout& layout, Reporter& reporter);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PLACEMENT_H_
