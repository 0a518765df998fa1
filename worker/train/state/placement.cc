#include "worker/train/state/placement.h"

#include <utility>

#include "common/check/check.h"
#include "worker/train/levers/optimizer_kind.h"
#include "worker/train/state/sharded_placement.h"
#include "worker/train/state/state_transfer.h"

namespace rekindle::train {
namespace {

class WholePlacement final : public Placement {
 public:
  WholePlacement(const ParameterLayout& layout, int moments) : layout_(layout), moments_(moments) {}

  TrainState Zero() const override { return TrainState::Zero(layout_, moments_); }
  absl::Status Enter(const Membership&, int) override { return absl::OkStatus(); }
  absl::Status Transfer(comm::Communicator& communicator, const Membership& membership,
                        const std::function<bool()>& may_swap, TrainState& state) override {
    return TransferState(communicator, membership, layout_, may_swap, state);
  }
  const std::vector<checkpoint::ElementRange>* Wanted() const override { return nullptr; }
  void Replaced(bool) override {}
  absl::Status ReleaseUnwanted(comm::Communicator&, TrainState&) override { return absl::OkStatus(); }
  absl::Status Prepare(std::optional<PlannedUpdate> update, GradientBuffer*, comm::Communicator&,
                       const TrainState&) override {
    update_ = std::move(update);
    return absl::OkStatus();
  }
  absl::Status Apply(TrainState& state) override {
    if (update_) UpdateElements(layout_, *update_, 0, layout_.total, FlatStateOf(state));
    return absl::OkStatus();
  }
  void Forget() override {}
  std::vector<checkpoint::ShardRange> Files(int world_size) const override {
    return checkpoint::CutShards(layout_.total, world_size);
  }
  absl::StatusOr<std::string> Digest(comm::Communicator&, TrainState& state) override { return StateDigest(state); }
  std::optional<LeverNote> Saved(const TrainState&) const override { return std::nullopt; }

 private:
  const ParameterLayout& layout_;
  // `moments_` is the number of moments that the optimizer keeps.
  const int moments_;
  std::optional<PlannedUpdate> update_;
};

}  // namespace

std::unique_ptr<Placement> MakePlacement(const TrainSpec& spec, const ParameterLayout& layout, Reporter& reporter) {
  const OptimizerKind* optimizer = FindOptimizer(spec.optimizer.kind);
  common::Check(optimizer != nullptr, "a state is placed for an optimizer that there is");
  const int moments = optimizer->moments;
  if (spec.sharded_state) return std::make_unique<ShardedPlacement>(layout, moments, reporter);
  return std::make_unique<WholePlacement>(layout, moments);
}

}  // namespace rekindle::train
