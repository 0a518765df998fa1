// Keeps the optimizer's moments in shards, each on two ranks (ZeRO-1). The weights are whole on every rank. See
// docs/architecture.md.
#ifndef REKINDLE_WORKER_TRAIN_STATE_SHARDED_PLACEMENT_H_
#define REKINDLE_WORKER_TRAIN_STATE_SHARDED_PLACEMENT_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "worker/train/state/placement.h"
#include "worker/train/state/prepared_step.h"
#include "worker/train/state/shard_map.h"

namespace rekindle::train {

// Knows what this rank holds and has to hold. PreparedStep makes the steps, and MomentTransfer moves the moments.
class ShardedPlacement final : public Placement {
 public:
  // All arguments must outlive the placement.
  ShardedPlacement(const ParameterLayout& layout, int moments, Reporter& reporter);

  TrainState Zero() const override { return TrainState::Zero(layout_, moments_, /*in_parts=*/true); }
  absl::Status Enter(const Membership& membership, int rank) override;
  absl::Status Transfer(comm::Communicator& communicator, const Membership& membership,
                        const std::function<bool()>& may_swap, TrainState& state) override;
  const std::vector<checkpoint::ElementRange>* Wanted() const override { return &deal_.wanted; }
  void Replaced(bool whole) override;
  absl::Status ReleaseUnwanted(comm::Communicator& communicator, TrainState& state) override;
  absl::Status Prepare(std::optional<PlannedUpdate> update, GradientBuffer* reduced, comm::Communicator& communicator,
                       const TrainState& state) override {
    return step_.Prepare(deal_, std::move(update), reduced, communicator, state);
  }
  absl::Status Apply(TrainState& state) override { return step_.Apply(deal_, held_, state); }
  void Forget() override { step_.Forget(); }
  std::vector<checkpoint::ShardRange> Files(int world_size) const override;
  absl::StatusOr<std::string> Digest(comm::Communicator& communicator, TrainState& state) override;
  std::optional<LeverNote> Saved(const TrainState& state) const override;

 private:
  void TakeOver(bool beside, int64_t target, TrainState& received, TrainState& state);

  const ParameterLayout& layout_;
  // `moments_` is the number of moments that the optimizer keeps.
  const int moments_;
  Reporter& reporter_;
  PreparedStep step_;
  // `deal_` is that of the newest generation.
  ShardDeal deal_;
  // `held_` is what this rank holds now, at the state's step.
  ElementSet held_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_SHARDED_PLACEMENT_H_
