// The optimizer's moments in shards, each on two ranks (ZeRO-1); weights are whole everywhere. See
// docs/architecture.md.
#ifndef REKINDLE_WORKER_TRAIN_SHARDED_PLACEMENT_H_
#define REKINDLE_WORKER_TRAIN_SHARDED_PLACEMENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker/train/placement.h"
#include "worker/train/shard_map.h"

namespace rekindle::train {

class ShardedPlacement final : public Placement {
 public:
  // All outlive it.
  ShardedPlacement(const ParameterLayout& layout, int moments, Reporter& reporter);

  TrainState Zero() const override { return TrainState::Zero(layout_, moments_, /*in_parts=*/true); }
  absl::Status Enter(const Membership& membership, int rank) override;
  absl::Status Transfer(comm::Communicator& communicator, const Membership& membership,
                        const std::function<bool()>& may_swap, TrainState& state) override;
  const std::vector<checkpoint::ElementRange>* Wanted() const override { return &wanted_; }
  void Replaced(bool whole) override;
  absl::Status Settle(comm::Communicator& communicator, TrainState& state) override;
  absl::Status Prepare(std::optional<PlannedUpdate> update, GradientBuffer* reduced, comm::Communicator& communicator,
                       const TrainState& state) override;
  absl::Status Apply(TrainState& state) override;
  void Forget() override { pending_.reset(); }
  std::vector<checkpoint::ShardRange> Files(int world_size) const override;
  absl::StatusOr<std::string> Digest(comm::Communicator& communicator, TrainState& state) override;
  std::optional<LeverNote> Saved(const TrainState& state) const override;

 private:
  // A step that is reduced, between Prepare and Apply, or interrupted there. As long as its gradient is kept where this
  // rank holds the moments, it can be applied there without any other rank.
  struct Pending {
    std::optional<PlannedUpdate> update;  // None: a skipped batch.
    GradientBuffer* reduced = nullptr;    // Of shards that this rank does not hold, the new weights once they arrived.
    std::vector<uint64_t> hashes;         // By rank: of the new weights of the shard that it is first of.
  };
  // What a rank has, as it tells the others. Moments of `step` + 1 can be made of them where it has prepared that.
  struct Holding {
    int64_t step = -1;  // -1: no state.
    bool prepared = false;
    ElementSet held;

    bool Reaches(int64_t target) const { return step == target || (prepared && step + 1 == target); }
  };

  bool Holds(const StateShard& shard) const { return shard.first == rank_ || shard.second == rank_; }
  // Without buffers, which every rank updates by itself.
  ElementRange TrainedPart(const StateShard& shard) const;
  // Where new weights of a shard lie that this rank does not hold.
  float* Incoming(const StateShard& shard, int64_t element) const;
  std::vector<FloatBuffer*> MomentsOf(TrainState& state) const;

  absl::Status ShareHoldings(comm::Communicator& communicator, const TrainState& state,
                             std::vector<Holding>* all) const;
  absl::Status SendMoments(comm::Communicator& communicator, const Move& move, int64_t target, TrainState& state);
  absl::Status ReceiveMoments(comm::Communicator& communicator, const Move& move,
                              const std::vector<FloatBuffer*>& moments) const;
  void TakeOver(bool beside, int64_t target, TrainState& received, TrainState& state);
  absl::Status IssuePiece(const StateShard& shard, const ElementRange& piece, comm::Communicator& communicator,
                          const TrainState& state, std::vector<comm::Work>* works);
  void MakeNew(const TrainState& state, const ElementRange& range, const FlatState& out) const;
  void UpdateHeld(TrainState& state) const;

  const ParameterLayout& layout_;
  const int moments_;  // That the optimizer keeps.
  Reporter& reporter_;
  const int64_t trained_;  // Elements before the buffers.

  int rank_ = 0;
  std::vector<ShardHolders> holders_;
  std::vector<StateShard> shards_;
  ElementSet wanted_;  // What this rank is to hold in this generation.
  ElementSet held_;    // What it does hold, at the state's step.
  std::optional<Pending> pending_;
  FloatBuffer outgoing_;  // The new weights of the shard that this rank is first of.
  FloatBuffer sink_;      // For pieces that come by on their way round the ring and are not needed.
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SHARDED_PLACEMENT_H_
